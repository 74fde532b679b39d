// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @only_products_round(%x: tensor<2x8xf32>, %w: tensor<2x8xf32>) {
  // expected-error @+1 {{has compute = 'bf16', but is no matrix product; remove it}}
  %y = nn.einsum "ab,ab->ab" %x, %w {compute = bf16} : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @operand_is_missing(%x: tensor<8x16xf32>) {
  // expected-error @+1 {{has 1 operands, but its spec 'bh,hf->bf' names 2}}
  %y = nn.einsum "bh,hf->bf" %x : (tensor<8x16xf32>) -> tensor<8x64xf32>
  return
}

// -----

func.func @rounded_operand_is_missing(%x: tensor<8x16xf32>, %w: tensor<16x64xf32>) {
  // expected-error @+1 {{has 2 operands, but its spec 'bh->b' names 1}}
  %y = nn.einsum "bh->b" %x, %w {compute = bf16} : (tensor<8x16xf32>, tensor<16x64xf32>) -> tensor<8x64xf32>
  return
}

// -----

func.func @no_operands() {
  // expected-error @+1 {{has 0 operands, but its spec '->' names 1}}
  %y = nn.einsum "->" : () -> tensor<f32>
  return
}

// -----

func.func @no_arrow(%x: tensor<8x16xf32>) {
  // expected-error @+1 {{has the malformed spec 'bh'; write it as 'bsh,hf->bsf'}}
  %y = nn.einsum "bh" %x : (tensor<8x16xf32>) -> tensor<f32>
  return
}

// -----

func.func @factors_are_letters(%x: tensor<8x16xf32>) {
  // expected-error @+1 {{has the malformed spec 'b1->b'; write it as 'bsh,hf->bsf'}}
  %y = nn.einsum "b1->b" %x : (tensor<8x16xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @two_arrows(%x: tensor<8x16xf32>) {
  // expected-error @+1 {{has the malformed spec 'b->h->b'; write it as 'bsh,hf->bsf'}}
  %y = nn.einsum "b->h->b" %x : (tensor<8x16xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @diagonal(%x: tensor<8x8xf32>) {
  // expected-error @+1 {{names factor 'b' twice in one operand}}
  %y = nn.einsum "bb->b" %x : (tensor<8x8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @makes_a_diagonal(%x: tensor<8xf32>) {
  // expected-error @+1 {{names factor 'b' twice in the result}}
  %y = nn.einsum "b->bb" %x : (tensor<8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @factor_from_nowhere(%x: tensor<8xf32>) {
  // expected-error @+1 {{factor 'q' of the result is in no operand}}
  %y = nn.einsum "b->bq" %x : (tensor<8xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @rank(%x: tensor<8x16xf32>) {
  // expected-error @+1 {{operand 0 has rank 2, but its factors are 'bsh'}}
  %y = nn.einsum "bsh->b" %x : (tensor<8x16xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @sizes_differ(%x: tensor<8x16xf32>, %w: tensor<8x64xf32>) {
  // expected-error @+1 {{sizes 16 and 8 of factor 'h' differ}}
  %y = nn.einsum "bh,hf->bf" %x, %w : (tensor<8x16xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
  return
}

// -----

func.func @dynamic_size(%x: tensor<?x16xf32>) {
  // expected-error @+1 {{operand 0 has type 'tensor<?x16xf32>'; all sizes must be static and above 0}}
  %y = nn.einsum "bh->b" %x : (tensor<?x16xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @empty_dimension(%x: tensor<0x16xf32>) {
  // expected-error @+1 {{operand 0 has type 'tensor<0x16xf32>'; all sizes must be static and above 0}}
  %y = nn.einsum "bh->b" %x : (tensor<0x16xf32>) -> tensor<0xf32>
  return
}

// -----

func.func @another_result(%x: tensor<8x16xf32>, %w: tensor<16x64xf32>) {
  // expected-error @+1 {{has result type 'tensor<64x8xf32>', but its operands give 'tensor<8x64xf32>'}}
  %y = nn.einsum "bh,hf->bf" %x, %w : (tensor<8x16xf32>, tensor<16x64xf32>) -> tensor<64x8xf32>
  return
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @weight_did_not_enter(%x: tensor<8x16xf32, #dist<tp: S(0)>>, %w: tensor<16x64xf32>) {
    // expected-error @+2 {{refuses S(0), I on axis 'tp'}}
    // expected-note @+1 {{an I operand stands next to a varying one: enter or slice it first}}
    %y = nn.einsum "bh,hf->bf" %x, %w
        : (tensor<8x16xf32, #dist<tp: S(0)>>, tensor<16x64xf32>) -> tensor<8x64xf32, #dist<tp: S(0)>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @invariant_with_replicated(%x: tensor<8x16xf32>, %w: tensor<16x64xf32, #dist<tp: R>>) {
    // expected-error @+2 {{refuses I, R on axis 'tp'}}
    // expected-note @+1 {{an I operand stands next to a varying one: enter or slice it first}}
    %y = nn.einsum "bh,hf->bf" %x, %w
        : (tensor<8x16xf32>, tensor<16x64xf32, #dist<tp: R>>) -> tensor<8x64xf32, #dist<tp: R>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @partial_with_invariant(%x: tensor<8x16xf32, #dist<tp: P>>, %w: tensor<16x64xf32>) {
    // expected-error @+2 {{refuses P, I on axis 'tp'}}
    // expected-note @+1 {{reduce the partial operand first (all_reduce, reduce_scatter) or make the I operand partial}}
    %y = nn.einsum "bh,hf->bf" %x, %w
        : (tensor<8x16xf32, #dist<tp: P>>, tensor<16x64xf32>) -> tensor<8x64xf32, #dist<tp: P>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @partial_times_partial(%x: tensor<8x16xf32, #dist<tp: P>>, %w: tensor<16x64xf32, #dist<tp: P>>) {
    // expected-error @+2 {{refuses P, P on axis 'tp'}}
    // expected-note @+1 {{reduce the partial operand first (all_reduce, reduce_scatter)}}
    %y = nn.einsum "bh,hf->bf" %x, %w
        : (tensor<8x16xf32, #dist<tp: P>>, tensor<16x64xf32, #dist<tp: P>>) -> tensor<8x64xf32, #dist<tp: P>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @partial_times_sharded(%x: tensor<8x16xf32, #dist<tp: P>>, %w: tensor<16x64xf32, #dist<tp: S(1)>>) {
    // expected-error @+2 {{refuses P, S(1) on axis 'tp'}}
    // expected-note @+1 {{reduce the partial operand first (all_reduce, reduce_scatter)}}
    %y = nn.einsum "bh,hf->bf" %x, %w
        : (tensor<8x16xf32, #dist<tp: P>>, tensor<16x64xf32, #dist<tp: S(1)>>) -> tensor<8x64xf32, #dist<tp: P>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @different_factors_split(%x: tensor<8x16xf32, #dist<tp: S(1)>>, %w: tensor<16x64xf32, #dist<tp: S(1)>>) {
    // expected-error @+2 {{refuses S(1), S(1) on axis 'tp'}}
    // expected-note @+1 {{only one factor may be sharded, alike in all operands: all_gather or all_to_all one of them}}
    %y = nn.einsum "bh,hf->bf" %x, %w
        : (tensor<8x16xf32, #dist<tp: S(1)>>, tensor<16x64xf32, #dist<tp: S(1)>>) -> tensor<8x64xf32, #dist<tp: P>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @candidates_of_a_maximum(%x: tensor<8xf32, #dist<tp: M>>) {
    // expected-error @+2 {{refuses M on axis 'tp'}}
    // expected-note @+1 {{compare the partial maxima first (all_reduce_max)}}
    %y = nn.einsum "b->" %x : (tensor<8xf32, #dist<tp: M>>) -> tensor<f32, #dist<tp: P>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 2>} {
  func.func @two_stages(%x: tensor<8xf32, #dist<pp: A(0)>>, %w: tensor<8xf32, #dist<pp: A(1)>>) {
    // expected-error @+2 {{refuses A(0), A(1) on axis 'pp'}}
    // expected-note @+1 {{operands at a pipeline stage must all be at the same one}}
    %y = nn.einsum "b,b->b" %x, %w
        : (tensor<8xf32, #dist<pp: A(0)>>, tensor<8xf32, #dist<pp: A(1)>>) -> tensor<8xf32, #dist<pp: A(1)>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @result_is_not_reduced_yet(%x: tensor<8x16xf32, #dist<tp: S(1)>>, %w: tensor<16x64xf32, #dist<tp: S(0)>>) {
    // expected-error @+1 {{has result type 'tensor<8x64xf32>', but its operands give 'tensor<8x64xf32, #dist<tp: P>>'}}
    %y = nn.einsum "bh,hf->bf" %x, %w
        : (tensor<8x16xf32, #dist<tp: S(1)>>, tensor<16x64xf32, #dist<tp: S(0)>>) -> tensor<8x64xf32>
    return
  }
}

// -----

func.func @chunks_of_no_factor(%x: tensor<4x6x8xf32>) {
  // expected-error @+1 {{has chunks of factor 'z', which 'bsh->' does not add; name a factor of the operands that is not in the result}}
  %z = nn.einsum "bsh->" %x {dist.chunked_sums = {z = 2}} : (tensor<4x6x8xf32>) -> tensor<f32>
  return
}

// -----

func.func @chunks_of_the_result(%x: tensor<4x6x8xf32>) {
  // expected-error @+1 {{has chunks of factor 'b', which 'bsh->b' does not add}}
  %z = nn.einsum "bsh->b" %x {dist.chunked_sums = {b = 2}} : (tensor<4x6x8xf32>) -> tensor<4xf32>
  return
}
