// Over a split dimension, a maximum leaves candidates.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  // CHECK-LABEL: @candidates
  func.func @candidates(%x: tensor<2x8x64xf32, #dist<tp: S(2)>>) -> tensor<2x8xf32, #dist<tp: M>> {
    // CHECK: nn.max %{{.*}} : tensor<2x8x64xf32, #dist<tp: S(2)>> -> tensor<2x8xf32, #dist<tp: M>>
    %y = nn.max %x : tensor<2x8x64xf32, #dist<tp: S(2)>> -> tensor<2x8xf32, #dist<tp: M>>
    return %y : tensor<2x8xf32, #dist<tp: M>>
  }
}
