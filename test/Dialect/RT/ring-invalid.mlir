// The results of earlier slices must fit the result, and sums are not rounded.
// RUN: tessera-opt %s --split-input-file --verify-diagnostics
!x = tensor<2x4x3x8xf32>
!lse = tensor<2x3x4xf32>
func.func @half_of_a_result(%x: !x, %s: i64) {
  // expected-error @+1 {{has 1 results of earlier slices; it must be 0 or 2}}
  %o, %l = rt.ring_attention %x, %x, %x, %s, %s, %s, %s, %x
      <causal, scale = 1.0> {dropout = 0.0 : f64, heads_total = 3 : i64, keys_total = 8 : i64, queries_total = 8 : i64,
      row_k = 24 : i64, row_q = 24 : i64, row_v = 24 : i64, stream = 0
      : i64} : (!x, !x, !x, i64, i64, i64, i64, !x) -> (!x, !lse)
  return
}

// -----

!x = tensor<2x4x3x8xf32>
!lse = tensor<2x3x4xf32>
func.func @another_shape(%x: !x, %l0: !lse, %s: i64) {
  // expected-error @+1 {{adds 'tensor<2x4x3x8xf32>' to 'tensor<2x3x4xf32>' of earlier slices; the types must be the same}}
  %o, %l = rt.ring_attention %x, %x, %x, %s, %s, %s, %s, %l0, %l0
      <causal, scale = 1.0> {dropout = 0.0 : f64, heads_total = 3 : i64, keys_total = 8 : i64, queries_total = 8 : i64,
      row_k = 24 : i64, row_q = 24 : i64, row_v = 24 : i64, stream = 0
      : i64} : (!x, !x, !x, i64, i64, i64, i64, !lse, !lse) -> (!x, !lse)
  return
}

// -----

!x = tensor<2x4x3x8xbf16>
!lse = tensor<2x3x4xf32>
func.func @rounded_sums(%x: !x, %s: i64) {
  // expected-error @+1 {{has queries of 'bf16' and a result of 'tensor<2x4x3x8xbf16>'; it must be of 'f32'}}
  %o, %l = rt.ring_attention %x, %x, %x, %s, %s, %s, %s
      <causal, scale = 1.0> {dropout = 0.0 : f64, heads_total = 3 : i64, keys_total = 8 : i64, queries_total = 8 : i64,
      row_k = 24 : i64, row_q = 24 : i64, row_v = 24 : i64, stream = 0
      : i64} : (!x, !x, !x, i64, i64, i64, i64) -> (!x, !lse)
  return
}

// -----

!x = tensor<2x4x3x8xf32>
!lse = tensor<2x3x4xf32>
func.func @four_gradients(%x: !x, %l: !lse, %s: i64) {
  // expected-error @+1 {{has 4 results of earlier slices; it must be 0 or 1 or 2 or 3}}
  %q, %k, %v = rt.ring_attention_grad %x, %x, %x, %x, %x, %l, %s, %s, %s, %s, %x, %x, %x, %x
      <causal, scale = 1.0> {dropout = 0.0 : f64, heads_total = 3 : i64, keys_total = 8 : i64, queries_total = 8 : i64,
      row_k = 24 : i64, row_q = 24 : i64, row_v = 24 : i64, stream = 0
      : i64} : (!x, !x, !x, !x, !x, !lse, i64, i64, i64, i64, !x, !x, !x, !x) -> (!x, !x, !x)
  return
}

// -----

!x = tensor<2x4x3x8xf32>
!lse = tensor<2x3x4xf32>
func.func @gradient_of_a_query_for_a_key(%x: !x, %y: tensor<2x2x3x8xf32>, %l: !lse, %s: i64) {
  // expected-error @+1 {{adds 'tensor<2x4x3x8xf32>' to 'tensor<2x2x3x8xf32>' of earlier slices; the types must be the same}}
  %q, %k, %v = rt.ring_attention_grad %x, %x, %x, %x, %x, %l, %s, %s, %s, %s, %x, %y
      <causal, scale = 1.0> {dropout = 0.0 : f64, heads_total = 3 : i64, keys_total = 8 : i64, queries_total = 8 : i64,
      row_k = 24 : i64, row_q = 24 : i64, row_v = 24 : i64, stream = 0
      : i64} : (!x, !x, !x, !x, !x, !lse, i64, i64, i64, i64, !x, tensor<2x2x3x8xf32>) -> (!x, !x, !x)
  return
}

// -----

func.func @one_chunk(%x: tensor<2x4x8xf32>) {
  // expected-error @+1 {{has 1 operands and 1 results; it must be 1 and 2, or 2 and 1}}
  %a = rt.zigzag %x along 1 over ["cp"] : tensor<2x4x8xf32> -> tensor<2x2x8xf32>
  return
}

// -----

func.func @two_axes(%x: tensor<2x4x8xf32>) {
  // expected-error @+1 {{runs over 2 axes; it must be one}}
  %a, %b = rt.zigzag %x along 1 over ["cp", "tp"] : tensor<2x4x8xf32> -> tensor<2x2x8xf32>, tensor<2x2x8xf32>
  return
}

// -----

func.func @another_dimension(%x: tensor<2x4x8xf32>) {
  // expected-error @+1 {{has chunks of 'tensor<2x2x8xf32>' and 'tensor<2x2x8xf32>' in 'tensor<2x4x8xf32>'; they must be its halves along dimension 2}}
  %a, %b = rt.zigzag %x along 2 over ["cp"] : tensor<2x4x8xf32> -> tensor<2x2x8xf32>, tensor<2x2x8xf32>
  return
}

// -----

!x = tensor<2x4x3x8xf32>
module attributes {dist.mesh = #dist.mesh<cp = 3>} {
  func.func @farther_than_the_ring(%x: !x) {
    // expected-error @+1 {{passes tensors on to rank 3 after the own one, but mesh axis 'cp' has 3; use a smaller distance}}
    %y = rt.shift %x over ["cp"] {distance = 3 : i64} : !x -> !x
    return
  }
}

// -----

!x = tensor<2x4x3x8xf32>
func.func @no_distance(%x: !x) {
  // expected-error @+1 {{attribute 'distance' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %y = rt.shift %x over ["cp"] {distance = 0 : i64} : !x -> !x
  return
}

// -----

!x = tensor<2x4x3x8xf32>
!v = tensor<2x4x3x4xf32>
func.func @other_head_size_of_values(%x: !x, %v: !v, %s: i64) {
  // expected-error @+1 {{has values of 2 x 4 x 3 x 4; beside the others it must be 2 x 4 x 3 x 8}}
  %o, %l = rt.ring_attention %x, %x, %v, %s, %s, %s, %s
      <causal, scale = 1.0> {dropout = 0.0 : f64, heads_total = 3 : i64, keys_total = 8 : i64, queries_total = 8 : i64,
      row_k = 24 : i64, row_q = 24 : i64, row_v = 24 : i64, stream = 0 : i64} : (!x, !x, !v, i64, i64, i64, i64) -> (!v, tensor<2x3x4xf32>)
  return
}

// -----

!x = tensor<2x4x3x8xf32>
func.func @slice_of_fewer_keys(%x: !x, %s: i64) {
  // expected-error @+1 {{has 4 keys of 2; a slice has no more than all}}
  %o, %l = rt.ring_attention %x, %x, %x, %s, %s, %s, %s
      <causal, scale = 1.0> {dropout = 0.0 : f64, heads_total = 3 : i64, keys_total = 2 : i64, queries_total = 8 : i64,
      row_k = 24 : i64, row_q = 24 : i64, row_v = 24 : i64, stream = 0 : i64} : (!x, !x, !x, i64, i64, i64, i64) -> (!x, tensor<2x3x4xf32>)
  return
}

// -----

!x = tensor<2x4x3x8xf32>
!v = tensor<2x2x3x8xf32>
func.func @gradients_of_fewer_values(%x: !x, %v: !v, %l: tensor<2x3x4xf32>, %s: i64) {
  // expected-error @+1 {{has values of 2 x 2 x 3 x 8; beside the others it must be 2 x 4 x 3 x 8}}
  %dq, %dk, %dv = rt.ring_attention_grad %x, %x, %x, %v, %x, %l, %s, %s, %s, %s
      <causal, scale = 1.0> {dropout = 0.0 : f64, heads_total = 3 : i64, keys_total = 8 : i64, queries_total = 8 : i64,
      row_k = 24 : i64, row_q = 24 : i64, row_v = 24 : i64, stream = 0 : i64}
      : (!x, !x, !x, !v, !x, tensor<2x3x4xf32>, i64, i64, i64, i64) -> (!x, !x, !v)
  return
}

// -----

!x = tensor<2x4x3x8xf32>
func.func @distance_in_a_ring(%x: !x, %l: tensor<2x3x4xf32>, %s: i64) {
  // expected-error @+1 {{has max_distance = 7 but no table of biases; give both or none}}
  %dq, %dk, %dv = rt.ring_attention_grad %x, %x, %x, %x, %x, %l, %s, %s, %s, %s
      <causal, scale = 1.0, max_distance = 7> {dropout = 0.0 : f64, heads_total = 3 : i64, keys_total = 8 : i64,
      queries_total = 8 : i64, row_k = 24 : i64, row_q = 24 : i64, row_v = 24 : i64, stream = 0 : i64}
      : (!x, !x, !x, !x, !x, tensor<2x3x4xf32>, i64, i64, i64, i64) -> (!x, !x, !x)
  return
}
