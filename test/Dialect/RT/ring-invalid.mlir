// What earlier slices left must fit the result, and sums are not rounded.
// RUN: tessera-opt %s --split-input-file --verify-diagnostics
!x = tensor<2x4x3x8xf32>
!lse = tensor<2x3x4xf32>
func.func @half_of_a_result(%x: !x, %s: i64) {
  // expected-error @+1 {{has 1 results of earlier slices; it must be 0 or 2}}
  %o, %l = rt.ring_attention %x, %x, %x, %s, %s, %s, %s, %x {causal = true, dropout = 0.0 : f64, heads_total = 3 : i64, keys_total = 8 : i64, queries_total = 8 : i64, row_k = 24 : i64, row_q = 24 : i64, row_v = 24 : i64, scale = 1.0 : f64, stream = 0 : i64} : (!x, !x, !x, i64, i64, i64, i64, !x) -> (!x, !lse)
  return
}

// -----

!x = tensor<2x4x3x8xf32>
!lse = tensor<2x3x4xf32>
func.func @another_shape(%x: !x, %l0: !lse, %s: i64) {
  // expected-error @+1 {{adds 'tensor<2x4x3x8xf32>' to 'tensor<2x3x4xf32>' of earlier slices; the types must be the same}}
  %o, %l = rt.ring_attention %x, %x, %x, %s, %s, %s, %s, %l0, %l0 {causal = true, dropout = 0.0 : f64, heads_total = 3 : i64, keys_total = 8 : i64, queries_total = 8 : i64, row_k = 24 : i64, row_q = 24 : i64, row_v = 24 : i64, scale = 1.0 : f64, stream = 0 : i64} : (!x, !x, !x, i64, i64, i64, i64, !lse, !lse) -> (!x, !lse)
  return
}

// -----

!x = tensor<2x4x3x8xbf16>
!lse = tensor<2x3x4xf32>
func.func @rounded_sums(%x: !x, %s: i64) {
  // expected-error @+1 {{has queries of 'bf16' and a result of 'tensor<2x4x3x8xbf16>'; it must be of 'f32'}}
  %o, %l = rt.ring_attention %x, %x, %x, %s, %s, %s, %s {causal = true, dropout = 0.0 : f64, heads_total = 3 : i64, keys_total = 8 : i64, queries_total = 8 : i64, row_k = 24 : i64, row_q = 24 : i64, row_v = 24 : i64, scale = 1.0 : f64, stream = 0 : i64} : (!x, !x, !x, i64, i64, i64, i64) -> (!x, !lse)
  return
}

// -----

!x = tensor<2x4x3x8xf32>
!lse = tensor<2x3x4xf32>
func.func @two_gradients(%x: !x, %l: !lse, %s: i64) {
  // expected-error @+1 {{has 2 results of earlier slices; it must be 0 or 1 or 3}}
  %q, %k, %v = rt.ring_attention_grad %x, %x, %x, %x, %x, %l, %s, %s, %s, %s, %x, %x {causal = true, dropout = 0.0 : f64, heads_total = 3 : i64, keys_total = 8 : i64, queries_total = 8 : i64, row_k = 24 : i64, row_q = 24 : i64, row_v = 24 : i64, scale = 1.0 : f64, stream = 0 : i64} : (!x, !x, !x, !x, !x, !lse, i64, i64, i64, i64, !x, !x) -> (!x, !x, !x)
  return
}
