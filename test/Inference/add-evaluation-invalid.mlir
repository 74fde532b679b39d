// RUN: tessera-opt %s --split-input-file --verify-diagnostics --nn-add-evaluation

// expected-error @+1 {{has no function @loss}}
module {
}

// -----

func.func @loss(%w: tensor<2x8xf32> {nn.param = "w"}) -> tensor<f32> {
  // expected-error @+1 {{is marked as a cross-entropy, but is not made of nn.pick}}
  %loss = nn.einsum "bs->" %w {nn.tag = #nn.tag<cross_entropy>} : (tensor<2x8xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
