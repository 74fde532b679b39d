// Ops of the dialects refuse tensors that passes cannot compute with.
// RUN: tessera-opt %s --split-input-file --verify-diagnostics

func.func @dynamic(%x: tensor<?xf32>) {
  // expected-error @+1 {{operand 0 has type 'tensor<?xf32>'; all sizes must be static and above 0}}
  %y = nn.map exp %x : tensor<?xf32> -> tensor<?xf32>
  return
}

// -----

func.func @empty(%x: tensor<0x4xf32>) {
  // expected-error @+1 {{operand 0 has type 'tensor<0x4xf32>'; all sizes must be static and above 0}}
  %y = rt.copy %x : tensor<0x4xf32> -> tensor<0x4xf32>
  return
}

// -----

func.func @complex_numbers(%x: tensor<4xcomplex<f32>>) {
  // expected-error @+1 {{operand 0 has type 'tensor<4xcomplex<f32>>'; its elements must be f64, f32, bf16, f16 or integers of 1, 8, 16, 32 or 64 bits}}
  %y = rt.copy %x : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
  return
}

// -----

func.func @too_many(%x: tensor<4611686018427387904x4611686018427387904xf32>) {
  // expected-error @+1 {{it must have at most 9007199254740992 elements}}
  %y = rt.copy %x : tensor<4611686018427387904x4611686018427387904xf32> -> tensor<4611686018427387904x4611686018427387904xf32>
  return
}

// -----

// expected-error @+1 {{rows 9007199254740992 elements apart make more than 9007199254740992 elements}}
func.func private @rows(tensor<4x4xf32, #rt.row_stride<9007199254740992>>)
