// RUN: tessera-opt %s --split-input-file --verify-diagnostics --rt-lower-library

func.func @summed_factors_are_not_neighbours(%x: tensor<2x4x3xf32>, %w: tensor<2x3x5xf32>) -> tensor<4x5xf32> {
  // expected-error @+1 {{'aib,abf->if' is no single matrix product of contiguous operands; order its factors as rows, columns}}
  %y = nn.einsum "aib,abf->if" %x, %w : (tensor<2x4x3xf32>, tensor<2x3x5xf32>) -> tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}

// -----

func.func @scaled_product(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>) -> tensor<4x6xf32> {
  // expected-error @+1 {{'bh,hf->bf' is no single matrix product}}
  %y = nn.einsum "bh,hf->bf" %x, %w {scale = 2.0 : f64} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

func.func @batched_product(%x: tensor<2x4x8xf32>, %w: tensor<2x8x6xf32>) -> tensor<2x4x6xf32> {
  // expected-error @+1 {{'abh,ahf->abf' is no single matrix product}}
  %y = nn.einsum "abh,ahf->abf" %x, %w : (tensor<2x4x8xf32>, tensor<2x8x6xf32>) -> tensor<2x4x6xf32>
  return %y : tensor<2x4x6xf32>
}

// -----

func.func @a_kernel_reads_a_slice(%x: tensor<4x2x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{cuts dimension 1 of 'tensor<4x2x8xf32>' for 'nn.map'; it can be copied only from dimension 0}}
  %a, %b = nn.unstack %x along 1 : tensor<4x2x8xf32> -> tensor<4x8xf32>, tensor<4x8xf32>
  %y = nn.map gelu %a : tensor<4x8xf32> -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}


// -----

// A cache that one rank holds, dealt to two.
module attributes {dist.mesh = #dist.mesh<cp = 2>} {
  func.func @step(%c: tensor<1x4x16x2x8xf32>, %r: tensor<1x6x2x8xf32>, %s: tensor<1x6xi32>) -> tensor<1x4x16x2x8xf32> {
    // expected-error @+1 {{deals 16 places to 2 ranks, but a rank holds 16; use a mesh with as many ranks to share them, and a multiple of these as places}}
    %y = nn.append %c, %r at %s, %s {deal = 2 : i64} : (tensor<1x4x16x2x8xf32>, tensor<1x6x2x8xf32>, tensor<1x6xi32>, tensor<1x6xi32>) -> tensor<1x4x16x2x8xf32>
    return %y : tensor<1x4x16x2x8xf32>
  }
}

// -----

func.func @a_sum_in_chunks_of_inner_factors(%x: tensor<2x8x3xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{'akf->af' adds neither its first nor its last factors; order them so}}
  %y = nn.einsum "akf->af" %x {dist.chunked_sums = {k = 4}} : (tensor<2x8x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

// A rank's query heads are some of each group, and so no neighbours: dropout could not count them from the first one on.
!q = tensor<2x8x2x2x16xf32>
!kv = tensor<2x8x2x16xf32>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @dropped_weights_of_heads_within_groups(%q: !q, %k: !kv) -> !q {
    // expected-error @+1 {{drops attention weights of query heads that are split within their groups; use a mesh axis no larger than the number of key heads, or no attention dropout}}
    %o, %l = nn.attention %q, %k, %k <causal, scale = 0.25> {dropout = 0.1 : f64, stream = 1 : i64, rt.factors = {r =
          {axes = ["tp"], chunks = array<i64: 2>, total = 4 : i64}}} : (!q, !kv, !kv) -> (!q, tensor<2x2x2x8xf32>)
    return %o : !q
  }
}

// -----

!q = tensor<2x8x2x2x16xf32>
!kv = tensor<2x8x2x16xf32>
!lse = tensor<2x2x2x8xf32>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @gradients_of_dropped_weights(%q: !q, %k: !kv, %l: !lse) -> !q {
    // expected-error @+1 {{drops attention weights of query heads that are split within their groups}}
    %dq, %dk, %dv = nn.attention_grad %q, %q, %k, %k, %q, %l <causal, scale = 0.25> {dropout = 0.1 : f64, stream = 1 : i64, rt.factors = {r =
          {axes = ["tp"], chunks = array<i64: 2>, total = 4 : i64}}} : (!q, !q, !kv, !kv, !q, !lse) -> (!q, !kv, !kv)
    return %dq : !q
  }
}
