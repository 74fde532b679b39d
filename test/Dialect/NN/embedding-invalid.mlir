// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @indices_are_no_integers(%ids: tensor<2x8xf32>, %table: tensor<64x16xf32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of indices of 32-bit signless integer values, but got 'tensor<2x8xf32>'}}
  %y = nn.embedding %ids, %table : (tensor<2x8xf32>, tensor<64x16xf32>) -> tensor<2x8x16xf32>
  return
}

// -----

func.func @indices_are_wide(%ids: tensor<2x8xi64>, %table: tensor<64x16xf32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of indices of 32-bit signless integer values, but got 'tensor<2x8xi64>'}}
  %y = nn.embedding %ids, %table : (tensor<2x8xi64>, tensor<64x16xf32>) -> tensor<2x8x16xf32>
  return
}

// -----

func.func @table_of_numbers_gives_no_rows(%ids: tensor<2x8xi32>, %table: tensor<64xf32>) {
  // expected-error @+1 {{has result type 'tensor<2x8x16xf32>', but its operands give 'tensor<2x8xf32>'}}
  %y = nn.embedding %ids, %table : (tensor<2x8xi32>, tensor<64xf32>) -> tensor<2x8x16xf32>
  return
}

// -----

func.func @table_of_tables(%ids: tensor<2x8xi32>, %table: tensor<64x16x4xf32>) {
  // expected-error @+1 {{operand 1 has rank 3, but its factors are 'vh'}}
  %y = nn.embedding %ids, %table : (tensor<2x8xi32>, tensor<64x16x4xf32>) -> tensor<2x8x16xf32>
  return
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @split_vocabulary_leaves_addends(%ids: tensor<2x8xi32, #dist<tp: R>>,
      %table: tensor<64x16xf32, #dist<tp: S(0)>>) {
    // expected-error @+1 {{has result type 'tensor<2x8x16xf32, #dist<tp: R>>', but its operands give 'tensor<2x8x16xf32, #dist<tp: P>>'}}
    %y = nn.embedding %ids, %table
        : (tensor<2x8xi32, #dist<tp: R>>, tensor<64x16xf32, #dist<tp: S(0)>>) -> tensor<2x8x16xf32, #dist<tp: R>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @indices_did_not_enter(%ids: tensor<2x8xi32>, %table: tensor<64x16xf32, #dist<tp: S(0)>>) {
    // expected-error @+2 {{refuses I, S(0) on axis 'tp'}}
    // expected-note @+1 {{an I operand stands next to a varying one: enter or slice it first}}
    %y = nn.embedding %ids, %table
        : (tensor<2x8xi32>, tensor<64x16xf32, #dist<tp: S(0)>>) -> tensor<2x8x16xf32, #dist<tp: P>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2>} {
  func.func @table_did_not_enter(%ids: tensor<2x8xi32, #dist<dp: S(0)>>, %table: tensor<64x16xf32>) {
    // expected-error @+2 {{refuses S(0), I on axis 'dp'}}
    // expected-note @+1 {{an I operand stands next to a varying one: enter or slice it first}}
    %y = nn.embedding %ids, %table
        : (tensor<2x8xi32, #dist<dp: S(0)>>, tensor<64x16xf32>) -> tensor<2x8x16xf32, #dist<dp: S(0)>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @partial_table_of_an_invariant_index(%ids: tensor<2x8xi32>, %table: tensor<64x16xf32, #dist<tp: P>>) {
    // expected-error @+2 {{refuses I, P on axis 'tp'}}
    // expected-note @+1 {{reduce the partial operand first (all_reduce, reduce_scatter) or make the I operand partial}}
    %y = nn.embedding %ids, %table
        : (tensor<2x8xi32>, tensor<64x16xf32, #dist<tp: P>>) -> tensor<2x8x16xf32, #dist<tp: P>>
    return
  }
}
