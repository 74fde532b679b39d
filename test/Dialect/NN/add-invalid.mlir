// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @no_operands() {
  // expected-error @+1 {{has 0 operands, but its spec '->' names 1}}
  %y = nn.add "->" : () -> tensor<f32>
  return
}

// -----

func.func @operand_is_missing(%x: tensor<8xf32>) {
  // expected-error @+1 {{has 1 operands, but its spec 'a,a->a' names 2}}
  %z = nn.add "a,a->a" %x : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @no_arrow(%x: tensor<8xf32>, %y: tensor<8xf32>) {
  // expected-error @+1 {{has the malformed spec 'a,a'; write it as 'bsh,hf->bsf'}}
  %z = nn.add "a,a" %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @coefficient_is_missing(%x: tensor<8xf32>, %y: tensor<8xf32>) {
  // expected-error @+1 {{has 2 operands and 1 coefficients; give every operand one}}
  %z = nn.add "a,a->a" %x, %y {coefs = array<f64: 2.0>} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @sums_a_factor(%x: tensor<8x4xf32>, %y: tensor<8xf32>) {
  // expected-error @+1 {{operand 0 has factor 'b', which the result lacks; sum it with nn.einsum first}}
  %z = nn.add "ab,a->a" %x, %y : (tensor<8x4xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @broadcasts_to_no_operand(%x: tensor<8xf32>) {
  // expected-error @+1 {{factor 'b' of the result is in no operand}}
  %z = nn.add "a->ab" %x : (tensor<8xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @sizes_differ(%x: tensor<8xf32>, %y: tensor<4xf32>) {
  // expected-error @+1 {{sizes 8 and 4 of factor 'a' differ}}
  %z = nn.add "a,a->a" %x, %y : (tensor<8xf32>, tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @row_parallel_bias(%x: tensor<8x64xf32, #dist<tp: P>>, %y: tensor<64xf32>) {
    // expected-error @+2 {{refuses P, I on axis 'tp'}}
    // expected-note @+1 {{reduce the partial operand first (all_reduce, reduce_scatter) or make the I operand partial}}
    %z = nn.add "bf,f->bf" %x, %y : (tensor<8x64xf32, #dist<tp: P>>, tensor<64xf32>) -> tensor<8x64xf32, #dist<tp: P>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @bias_on_every_rank(%x: tensor<8x64xf32, #dist<tp: P>>, %y: tensor<64xf32, #dist<tp: R>>) {
    // expected-error @+2 {{refuses P, R on axis 'tp'}}
    // expected-note @+1 {{reduce the partial operand first (all_reduce, reduce_scatter)}}
    %z = nn.add "bf,f->bf" %x, %y
        : (tensor<8x64xf32, #dist<tp: P>>, tensor<64xf32, #dist<tp: R>>) -> tensor<8x64xf32, #dist<tp: P>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @invariant_with_replicated(%x: tensor<8xf32>, %y: tensor<8xf32, #dist<tp: R>>) {
    // expected-error @+2 {{refuses I, R on axis 'tp'}}
    // expected-note @+1 {{an I operand stands next to a varying one: enter or slice it first}}
    %z = nn.add "a,a->a" %x, %y : (tensor<8xf32>, tensor<8xf32, #dist<tp: R>>) -> tensor<8xf32, #dist<tp: R>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @slices_of_different_dimensions(%x: tensor<8x4xf32, #dist<tp: S(0)>>,
      %y: tensor<8x4xf32, #dist<tp: S(1)>>) {
    // expected-error @+2 {{refuses S(0), S(1) on axis 'tp'}}
    // expected-note @+1 {{only one factor may be sharded, alike in all operands: all_gather or all_to_all one of them}}
    %z = nn.add "ab,ab->ab" %x, %y
        : (tensor<8x4xf32, #dist<tp: S(0)>>, tensor<8x4xf32, #dist<tp: S(1)>>) -> tensor<8x4xf32, #dist<tp: S(0)>>
    return
  }
}
