// RUN: tessera-opt %s --nn-mark-chunked-sums -verify-diagnostics

module attributes {dist.mesh = #dist.mesh<tp = 3>} {
  // expected-error @+1 {{is in a module without 'dist.layout_invariant'; run nn-fix-order first}}
  func.func @step(%x: tensor<8x6xf32>) -> tensor<8xf32> {
    %y = nn.einsum "bv->b" %x : (tensor<8x6xf32>) -> tensor<8xf32>
    return %y : tensor<8xf32>
  }
}
