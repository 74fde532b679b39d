// RUN: tessera-opt %s --split-input-file --verify-diagnostics --nn-micro-batch=count=0

// expected-error @+1 {{has no function @gradients}}
module {
}

// -----

// expected-error @+1 {{cannot run 0 micro-batches; count must be at least 1}}
func.func @gradients(%x: tensor<4xf32> {nn.data = "x"}) -> tensor<f32> {
  %loss = nn.einsum "b->" %x : (tensor<4xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
