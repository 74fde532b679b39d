// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @other_columns(%r: tensor<32x16xf32>, %g: tensor<2x8x4xf32>, %h: tensor<4x8x2xf32>) {
  // expected-error @+1 {{makes 'tensor<64x8xf32>' of 'tensor<32x16xf32>'; both must be [rows, columns], of the same columns}}
  %s = rt.exchange_rows %r by %g to %h over ["ep"]
      : (tensor<32x16xf32>, tensor<2x8x4xf32>, tensor<4x8x2xf32>) -> tensor<64x8xf32>
  return
}

// -----

func.func @other_tokens(%r: tensor<32x16xf32>, %g: tensor<2x8x4xf32>, %h: tensor<6x8x2xf32>) {
  // expected-error @+1 {{goes from gates 'tensor<2x8x4xf32>' to 'tensor<6x8x2xf32>'; one side must have the tokens of as many ranks as the other has their experts}}
  %s = rt.exchange_rows %r by %g to %h over ["ep"]
      : (tensor<32x16xf32>, tensor<2x8x4xf32>, tensor<6x8x2xf32>) -> tensor<64x16xf32>
  return
}

// -----

func.func @same_side(%r: tensor<32x16xf32>, %g: tensor<2x8x4xf32>) {
  // expected-error @+1 {{goes from gates 'tensor<2x8x4xf32>' to 'tensor<2x8x4xf32>'}}
  %s = rt.exchange_rows %r by %g to %g over ["ep"]
      : (tensor<32x16xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>) -> tensor<32x16xf32>
  return
}

// -----

func.func @not_expanded(%r: tensor<32x16xf32>, %g: tensor<2x8x4xf32>) {
  // expected-error @+1 {{makes 'tensor<64x16xf32>' of 'tensor<32x16xf32>'; it makes [experts, .., columns] of [rows, columns]}}
  %e = rt.expand_rows %r by %g : (tensor<32x16xf32>, tensor<2x8x4xf32>) -> tensor<64x16xf32>
  return
}

// -----

func.func @expanded_by_other_gates(%r: tensor<32x16xf32>, %g: tensor<2x8x4xf32>) {
  // expected-error @+1 {{routes rows 'tensor<3x2x8x16xf32>' by gates 'tensor<2x8x4xf32>'}}
  %e = rt.expand_rows %r by %g : (tensor<32x16xf32>, tensor<2x8x4xf32>) -> tensor<3x2x8x16xf32>
  return
}
