// RUN: tessera-opt %s --split-input-file --verify-diagnostics --nn-mixed-precision

// expected-error@below {{parameter "w" has elements of 'f64', mixed precision needs f32; import the model in f32}}
func.func @loss(%w: tensor<8xf64> {nn.param = "w"}) -> tensor<f64> {
  %loss = nn.einsum "h->" %w : (tensor<8xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// expected-error@below {{has no function @loss}}
module {
}
