// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @too_few(%t: tensor<2x8x16xf32>) {
  // expected-error @+1 {{has 1 inputs; 'dispatch' has 2}}
  %r = rt.routed dispatch %t {k = 2 : i64, total = 4 : i64} : (tensor<2x8x16xf32>) -> tensor<4x2x8x16xf32>
  return
}

// -----

func.func @other_gates(%t: tensor<2x8x16xf32>, %g: tensor<2x8x3xf32>) {
  // expected-error @+1 {{routes rows 'tensor<4x2x8x16xf32>' by gates 'tensor<2x8x3xf32>'; these must be the rows' [.., experts], those [experts, .., columns] or [rows, columns]}}
  %r = rt.routed dispatch %t, %g {k = 2 : i64, total = 3 : i64}
      : (tensor<2x8x16xf32>, tensor<2x8x3xf32>) -> tensor<4x2x8x16xf32>
  return
}

// -----

func.func @scalar_gates(%l: tensor<f32>) {
  // expected-error @+1 {{has gates of rank 0; they are [.., experts]}}
  %g = rt.routed top_k %l {k = 1 : i64, total = 1 : i64} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @other_type(%l: tensor<2x4xf32>) {
  // expected-error @+1 {{makes gates 'tensor<2x4xf64>' of logits 'tensor<2x4xf32>'; the types must be the same}}
  %g = rt.routed top_k %l {k = 1 : i64, total = 4 : i64} : (tensor<2x4xf32>) -> tensor<2x4xf64>
  return
}

// -----

func.func @gates_of_the_sender(%r: tensor<4x2x8x16xf32>, %g: tensor<2x8x4xf32>) {
  // expected-error @+1 {{routes rows 'tensor<2x4x8x16xf32>' by gates 'tensor<2x8x4xf32>'}}
  %s = rt.all_to_all %r by %g : tensor<2x8x4xf32> from 1 to 0 over ["ep"]
      : tensor<4x2x8x16xf32> -> tensor<2x4x8x16xf32>
  return
}

// -----

func.func @integers_without_scales(%r: tensor<4x2x8x16xf32>, %w: tensor<4x32x16xi8>, %g: tensor<2x8x4xf32>) {
  // expected-error @+1 {{has 3 inputs; 'product' has 4}}
  %y = rt.routed product %r, %w, %g {k = 2 : i64, total = 4 : i64}
      : (tensor<4x2x8x16xf32>, tensor<4x32x16xi8>, tensor<2x8x4xf32>) -> tensor<4x2x8x32xf32>
  return
}

// -----

func.func @scales_of_the_sum(%r: tensor<4x2x8x16xf32>, %w: tensor<4x32x16xi8>, %s: tensor<4x16xf32>, %g: tensor<2x8x4xf32>) {
  // expected-error @+1 {{scales the columns of 4 experts by 'tensor<4x16xf32>'; they are [4, 32]}}
  %y = rt.routed product %r, %w, %s, %g {k = 2 : i64, total = 4 : i64}
      : (tensor<4x2x8x16xf32>, tensor<4x32x16xi8>, tensor<4x16xf32>, tensor<2x8x4xf32>) -> tensor<4x2x8x32xf32>
  return
}
