// Labels that count, as numbers: their sum is the count.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s

module attributes {dist.mesh = #dist.mesh<dp = 2>} {
  // CHECK-LABEL: @count
  func.func @count(%labels: tensor<2x8xi32, #dist<dp: S(0)>>) {
    // CHECK: nn.counted %{{.*}} as f32 : tensor<2x8xi32, #dist<dp: S(0)>> -> tensor<2x8xf32, #dist<dp: S(0)>>
    %m = nn.counted %labels as f32 : tensor<2x8xi32, #dist<dp: S(0)>> -> tensor<2x8xf32, #dist<dp: S(0)>>
    %n = nn.einsum "bs->" %m : (tensor<2x8xf32, #dist<dp: S(0)>>) -> tensor<f32, #dist<dp: P>>
    return
  }
}
