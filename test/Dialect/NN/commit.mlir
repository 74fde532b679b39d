// RUN: tessera-opt %s | tessera-opt | FileCheck %s

!p = tensor<8xf32, #dist<tp: S(0)>>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  // CHECK-LABEL: @a_slice
  func.func @a_slice(%counts: tensor<f32, #dist<tp: R>>, %new: !p, %old: !p) -> !p {
    // CHECK: nn.commit %{{.*}}, %{{.*}}, %{{.*}} : (tensor<f32, #dist<tp: R>>,
    // CHECK-SAME: -> tensor<8xf32, #dist<tp: S(0)>>
    %y = nn.commit %counts, %new, %old : (tensor<f32, #dist<tp: R>>, !p, !p) -> !p
    return %y : !p
  }
}
