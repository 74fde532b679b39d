// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @indices_are_no_integers(%g: tensor<2x8x16xf32>, %ids: tensor<2x8xf32>, %table: tensor<64x16xf32>) {
  // expected-error @+1 {{operand #1 must be ranked tensor of indices}}
  %y = nn.embedding_grad %g, %ids like %table
      : (tensor<2x8x16xf32>, tensor<2x8xf32>, tensor<64x16xf32>) -> tensor<64x16xf32>
  return
}

// -----

func.func @other_sequences(%g: tensor<2x8x16xf32>, %ids: tensor<2x4xi32>, %table: tensor<64x16xf32>) {
  // expected-error @+1 {{sizes 8 and 4 of factor 's' differ}}
  %y = nn.embedding_grad %g, %ids like %table
      : (tensor<2x8x16xf32>, tensor<2x4xi32>, tensor<64x16xf32>) -> tensor<64x16xf32>
  return
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2>} {
  func.func @split_batch_leaves_addends(%g: tensor<2x8x16xf32, #dist<dp: S(0)>>,
      %ids: tensor<2x8xi32, #dist<dp: S(0)>>, %table: tensor<64x16xf32, #dist<dp: R>>) {
    // expected-error @+1 {{has result type 'tensor<64x16xf32>', but its operands give 'tensor<64x16xf32, #dist<dp: P>>'}}
    %y = nn.embedding_grad %g, %ids like %table
        : (tensor<2x8x16xf32, #dist<dp: S(0)>>, tensor<2x8xi32, #dist<dp: S(0)>>, tensor<64x16xf32, #dist<dp: R>>)
        -> tensor<64x16xf32>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @gradient_is_invariant(%g: tensor<2x8x16xf32>, %ids: tensor<2x8xi32, #dist<tp: R>>,
      %table: tensor<64x16xf32, #dist<tp: S(0)>>) {
    // expected-error @+2 {{refuses I, R, S(0) on axis 'tp'}}
    // expected-note @+1 {{an I operand stands next to a varying one: enter or slice it first}}
    %y = nn.embedding_grad %g, %ids like %table
        : (tensor<2x8x16xf32>, tensor<2x8xi32, #dist<tp: R>>, tensor<64x16xf32, #dist<tp: S(0)>>)
        -> tensor<64x16xf32, #dist<tp: S(0)>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @addends_for_a_split_table(%g: tensor<2x8x16xf32, #dist<tp: P>>, %ids: tensor<2x8xi32, #dist<tp: R>>,
      %table: tensor<64x16xf32, #dist<tp: S(0)>>) {
    // expected-error @+2 {{refuses P, R, S(0) on axis 'tp'}}
    // expected-note @+1 {{reduce the partial operand first (all_reduce, reduce_scatter)}}
    %y = nn.embedding_grad %g, %ids like %table
        : (tensor<2x8x16xf32, #dist<tp: P>>, tensor<2x8xi32, #dist<tp: R>>, tensor<64x16xf32, #dist<tp: S(0)>>)
        -> tensor<64x16xf32, #dist<tp: S(0)>>
    return
  }
}
