// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @no_labels(%x: tensor<2x8xf32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of indices}}
  %m = nn.counted %x as f32 : tensor<2x8xf32> -> tensor<2x8xf32>
  return
}

// -----

func.func @another_type(%labels: tensor<2x8xi32>) {
  // expected-error @+1 {{has result type 'tensor<2x8xf64>', but its operands give 'tensor<2x8xf32>'}}
  %m = nn.counted %labels as f32 : tensor<2x8xi32> -> tensor<2x8xf64>
  return
}
