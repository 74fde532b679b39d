// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @of_a_scalar(%x: tensor<f32>, %labels: tensor<i32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor with at least 1 dimension}}
  %y = nn.pick %x, %labels : (tensor<f32>, tensor<i32>) -> tensor<f32>
  return
}

// -----

func.func @labels_are_no_integers(%x: tensor<2x8x64xf32>, %labels: tensor<2x8xf32>) {
  // expected-error @+1 {{operand #1 must be ranked tensor of indices of 32-bit signless integer values, but got 'tensor<2x8xf32>'}}
  %y = nn.pick %x, %labels : (tensor<2x8x64xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @other_sequences(%x: tensor<2x8x64xf32>, %labels: tensor<2x4xi32>) {
  // expected-error @+1 {{sizes 8 and 4 of factor 'b' differ}}
  %y = nn.pick %x, %labels : (tensor<2x8x64xf32>, tensor<2x4xi32>) -> tensor<2x8xf32>
  return
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @split_vocabulary_leaves_addends(%x: tensor<2x8x64xf32, #dist<tp: S(2)>>,
      %labels: tensor<2x8xi32, #dist<tp: R>>) {
    // expected-error @+1 {{has result type 'tensor<2x8xf32>', but its operands give 'tensor<2x8xf32, #dist<tp: P>>'}}
    %y = nn.pick %x, %labels : (tensor<2x8x64xf32, #dist<tp: S(2)>>, tensor<2x8xi32, #dist<tp: R>>) -> tensor<2x8xf32>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @labels_did_not_enter(%x: tensor<2x8x64xf32, #dist<tp: S(2)>>, %labels: tensor<2x8xi32>) {
    // expected-error @+2 {{refuses S(2), I on axis 'tp'}}
    // expected-note @+1 {{an I operand stands next to a varying one: enter or slice it first}}
    %y = nn.pick %x, %labels : (tensor<2x8x64xf32, #dist<tp: S(2)>>, tensor<2x8xi32>) -> tensor<2x8xf32, #dist<tp: P>>
    return
  }
}
