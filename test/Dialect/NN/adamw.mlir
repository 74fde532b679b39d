// RUN: tessera-opt %s | tessera-opt | FileCheck %s

!p = tensor<8xf32, #dist<tp: S(0)>>
!s = tensor<f32, #dist<tp: R>>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  // CHECK-LABEL: @a_slice
  func.func @a_slice(%p: !p, %m: !p, %v: !p, %lr: !s) -> !p {
    // CHECK: nn.adamw {{.*}} {decay = 1.000000e-01 : f64, epsilon = 1.000000e-08 : f64} : (
    // CHECK-SAME: -> tensor<8xf32, #dist<tp: S(0)>>
    %y = nn.adamw %p, %m, %v, %lr, %lr, %lr {epsilon = 1.0e-8 : f64, decay = 0.1 : f64}
        : (!p, !p, !p, !s, !s, !s) -> !p
    return %y : !p
  }
}
