// RUN: tessera-opt %s | tessera-opt | FileCheck %s

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  // CHECK-LABEL: @addends_are_rounded_too
  func.func @addends_are_rounded_too(%x: tensor<2x8xf32, #dist<tp: P>>) -> tensor<2x8xbf16, #dist<tp: P>> {
    // CHECK: nn.cast %{{.*}} to bf16 : tensor<2x8xf32, #dist<tp: P>> -> tensor<2x8xbf16, #dist<tp: P>>
    %y = nn.cast %x to bf16 : tensor<2x8xf32, #dist<tp: P>> -> tensor<2x8xbf16, #dist<tp: P>>
    return %y : tensor<2x8xbf16, #dist<tp: P>>
  }
}
