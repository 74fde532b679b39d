// RUN: tessera-opt %s --split-input-file --verify-diagnostics

func.func @only_products_round(%x: tensor<2x8xf32>, %y: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // expected-error@below {{has compute = 'bf16', but is no matrix product; remove it}}
  %z = nn.einsum "ab,ab->ab" %x, %y {compute = bf16} : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %z : tensor<2x8xf32>
}
