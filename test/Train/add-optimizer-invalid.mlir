// RUN: tessera-opt %s --split-input-file --verify-diagnostics --nn-add-optimizer

// expected-error @+1 {{has no function @gradients}}
module {
}

// -----

// expected-error @+1 {{has no parameter to train: no argument has nn.param without nn.frozen}}
func.func @gradients(%loss: tensor<f32>) -> tensor<f32> {
  return %loss : tensor<f32>
}

// -----

// expected-error @+1 {{returns 1 values, but the loss and the gradients of 1 parameters are 2; run nn-differentiate first}}
func.func @gradients(%w: tensor<8xf32> {nn.param = "w"}, %loss: tensor<f32>) -> tensor<f32> {
  return %loss : tensor<f32>
}
