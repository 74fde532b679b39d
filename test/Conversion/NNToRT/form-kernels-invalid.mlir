// RUN: tessera-opt %s --split-input-file --verify-diagnostics --rt-form-kernels

// expected-error @+1 {{has no function @step}}
module {
}

// -----

func.func @step(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>) -> tensor<4x6xf32> {
  // expected-error @+1 {{'nn.einsum' op has no lowering to the runtime}}
  %y = nn.einsum "bh,hf->bf" %x, %w : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

// A transposition is not elementwise.
func.func @step(%x: tensor<4x8xf32>) -> tensor<8x4xf32> {
  // expected-error @+1 {{'nn.einsum' op has no lowering to the runtime}}
  %y = nn.einsum "ab->ba" %x : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}
