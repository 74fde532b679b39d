// Tokens and experts that meet in different states, partial sums in gates, too few experts.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @more_than_all(%l: tensor<4x8x4xf32>) {
  // expected-error @+1 {{routes each token to 5 of 4 experts; use at most 4}}
  %g = nn.top_k 5 of %l : tensor<4x8x4xf32> -> tensor<4x8x4xf32>
  return
}

// -----

// Partial sums do not tell which logits are the largest.
!addend = tensor<4x8x4xf32, #dist<tp: P>>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @partial_logits(%l: !addend) {
    // expected-error @+2 {{refuses P on axis 'tp'}}
    // expected-note @+1 {{reduce the partial operand first}}
    %g = nn.top_k 2 of %l : !addend -> !addend
    return
  }
}

// -----

!split = tensor<4x8x4xf32, #dist<ep: S(2)>>
module attributes {dist.mesh = #dist.mesh<ep = 2>} {
  func.func @some_logits(%l: !split) {
    // expected-error @+2 {{refuses S(2) on axis 'ep'}}
    // expected-note @+1 {{operand 0 shards dimension 2, which this op needs whole: all_gather it first}}
    %g = nn.top_k 2 of %l : !split -> !split
    return
  }
}

// -----

// The tokens have not been exchanged.
!rows = tensor<4x4x8x16xf32, #dist<ep: S(1)>>
!weight = tensor<4x32x16xf32, #dist<ep: S(0)>>
!gates = tensor<4x8x4xf32, #dist<ep: S(2)>>
module attributes {dist.mesh = #dist.mesh<ep = 2>} {
  func.func @tokens_of_another_rank(%r: !rows, %w: !weight, %g: !gates) {
    // expected-error @+2 {{refuses S(1), S(0), S(2) on axis 'ep'}}
    // expected-note @+1 {{only one factor may be sharded, alike in all operands: all_gather or all_to_all one of them}}
    %y = nn.expert_linear %r, %w by %g : (!rows, !weight, !gates) -> tensor<4x4x8x32xf32, #dist<ep: S(0)>>
    return
  }
}

// -----

func.func @other_experts(%r: tensor<4x4x8x16xf32>, %g: tensor<4x8x3xf32>) {
  // expected-error @+1 {{sizes 4 and 3 of factor 'x' differ}}
  %y = nn.collect %r by %g : (tensor<4x4x8x16xf32>, tensor<4x8x3xf32>) -> tensor<4x8x16xf32>
  return
}

// -----

func.func @integers_without_scales(%r: tensor<4x2x8x16xf32>, %w: tensor<4x32x16xi8>, %g: tensor<2x8x4xf32>) {
  // expected-error @+1 {{has a weight of 'i8' without scales; weights of i8 have scales, and no others}}
  %y = nn.expert_linear %r, %w by %g : (tensor<4x2x8x16xf32>, tensor<4x32x16xi8>, tensor<2x8x4xf32>)
      -> tensor<4x2x8x32xf32>
  return
}

// -----

func.func @scales_of_floats(%r: tensor<4x2x8x16xf32>, %w: tensor<4x32x16xf32>, %s: tensor<4x32xf32>, %g: tensor<2x8x4xf32>) {
  // expected-error @+1 {{has a weight of 'f32' with scales; weights of i8 have scales, and no others}}
  %y = nn.expert_linear %r, %w, %s by %g : (tensor<4x2x8x16xf32>, tensor<4x32x16xf32>, tensor<4x32xf32>, tensor<2x8x4xf32>)
      -> tensor<4x2x8x32xf32>
  return
}
