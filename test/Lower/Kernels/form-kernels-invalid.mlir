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

// -----

func.func @step(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  // expected-error @+2 {{'tensor<1x32xf16>' is not a static tensor of rank 0 to 2 of f32, f64, bf16, i32, i64 or i8}}
  // expected-error @+1 {{is in a kernel that cannot be generated}}
  %y = nn.map gelu %x : tensor<4x8xf16> -> tensor<4x8xf16>
  return %y : tensor<4x8xf16>
}

// -----

// Neither a value per row nor one per column.
func.func @step(%x: tensor<2x3x4xf32>, %m: tensor<2x4xf32>) -> tensor<2x3x4xf32> {
  // expected-error @+1 {{'nn.add' op has no lowering to the runtime}}
  %y = nn.add "abc,ac->abc" %x, %m : (tensor<2x3x4xf32>, tensor<2x4xf32>) -> tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}
