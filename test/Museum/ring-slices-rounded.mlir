// Ring attention rounds what each slice of the keys gives before it adds the next.
//
// Fault: the kernel of a slice returns bf16, so a sum kept in f32 adds rounded terms, and
// gradients of keys and values are rounded at every rank that they pass. The loss looks right, the
// error of the gradients grows with the number of ranks.
// Source: https://github.com/zhuzilin/ring-flash-attention/issues/22 and
// https://github.com/zhuzilin/ring-flash-attention/issues/42
// Here: sums over slices of bf16 operands are f32 by type, and are rounded once, after the last slice.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

!x = tensor<1x4x2x8xbf16>
!f = tensor<1x4x2x8xf32>
!lse = tensor<1x2x4xf32>
func.func @rounded_output(%x: !x, %at: i64) {
  // expected-error @+1 {{has queries of 'bf16' and a result of 'tensor<1x4x2x8xbf16>'; it must be of 'f32'}}
  %o, %l = rt.ring_attention %x, %x, %x, %at, %at, %at, %at
      <causal, scale = 1.0> {dropout = 0.0 : f64, heads_total = 2 : i64, keys_total = 8 : i64, queries_total = 8 : i64,
      row_k = 16 : i64, row_q = 16 : i64, row_v = 16 : i64, stream = 0
      : i64} : (!x, !x, !x, i64, i64, i64, i64) -> (!x, !lse)
  return
}

// -----

!x = tensor<1x4x2x8xbf16>
!f = tensor<1x4x2x8xf32>
!lse = tensor<1x2x4xf32>
func.func @rounded_gradients(%x: !x, %l: !lse, %at: i64) {
  // expected-error @+1 {{has queries of 'bf16' and a result of 'tensor<1x4x2x8xbf16>'; it must be of 'f32'}}
  %q, %k, %v = rt.ring_attention_grad %x, %x, %x, %x, %x, %l, %at, %at, %at, %at
      <causal, scale = 1.0> {dropout = 0.0 : f64, heads_total = 2 : i64, keys_total = 8 : i64, queries_total = 8 : i64,
      row_k = 16 : i64, row_q = 16 : i64, row_v = 16 : i64, stream = 0
      : i64} : (!x, !x, !x, !x, !x, !lse, i64, i64, i64, i64) -> (!f, !x, !x)
  return
}

// -----

!x = tensor<1x4x2x8xbf16>
!f = tensor<1x4x2x8xf32>
!lse = tensor<1x2x4xf32>
func.func @right(%x: !x, %at: i64) -> !x {
  %o, %l = rt.ring_attention %x, %x, %x, %at, %at, %at, %at
      <causal, scale = 1.0> {dropout = 0.0 : f64, heads_total = 2 : i64, keys_total = 8 : i64, queries_total = 8 : i64,
      row_k = 16 : i64, row_q = 16 : i64, row_v = 16 : i64, stream = 0
      : i64} : (!x, !x, !x, i64, i64, i64, i64) -> (!f, !lse)
  %y = nn.cast %o to bf16 : !f -> !x
  return %y : !x
}
