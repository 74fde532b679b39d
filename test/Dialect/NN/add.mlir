// Sums broadcast, and are linear in all operands together.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  // CHECK-LABEL: @bias
  func.func @bias(%x: tensor<2x8x64xf32>, %bias: tensor<64xf32>) -> tensor<2x8x64xf32> {
    // CHECK: nn.add "bsf,f->bsf" %{{.*}}, %{{.*}} : (tensor<2x8x64xf32>, tensor<64xf32>) -> tensor<2x8x64xf32>
    %y = nn.add "bsf,f->bsf" %x, %bias : (tensor<2x8x64xf32>, tensor<64xf32>) -> tensor<2x8x64xf32>
    return %y : tensor<2x8x64xf32>
  }

  // CHECK-LABEL: @difference
  func.func @difference(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
    // CHECK: {coefs = array<f64: 1.000000e+00, -1.000000e+00>}
    %z = nn.add "a,a->a" %x, %y {coefs = array<f64: 1.0, -1.0>} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    return %z : tensor<8xf32>
  }

  // CHECK-LABEL: @addends
  func.func @addends(%x: tensor<8x64xf32, #dist<tp: P>>,
      %bias: tensor<64xf32, #dist<tp: P>>) -> tensor<8x64xf32, #dist<tp: P>> {
    // CHECK: -> tensor<8x64xf32, #dist<tp: P>>
    %y = nn.add "bf,f->bf" %x, %bias
        : (tensor<8x64xf32, #dist<tp: P>>, tensor<64xf32, #dist<tp: P>>) -> tensor<8x64xf32, #dist<tp: P>>
    return %y : tensor<8x64xf32, #dist<tp: P>>
  }
}
