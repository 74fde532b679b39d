// RUN: tessera-opt %s -split-input-file -verify-diagnostics

!x = tensor<2x8x1x16xf32>
!lse = tensor<2x1x8xf32>
func.func @gradient_without_heads(%x: !x, %lse: !lse, %i: i64) {
  // expected-error @+1 {{has an operand or result of rank 3; it must be 4: batch, sequence, heads, head size}}
  %dq, %dk, %dv = rt.attention_grad %x, %x, %x, %x, %x, %lse, %i, %i
      {row_q = 16 : i64, row_k = 16 : i64, row_v = 16 : i64, row_dq = 16 : i64, row_dk = 16 : i64, row_dv = 16 : i64,
      heads_total = 1 : i64, scale = 1.0 : f64, causal = true, dropout = 0.0 : f64, stream = 0 : i64}
      : (!x, !x, !x, !x, !x, !lse, i64, i64) -> (!x, !x, tensor<2x8x16xf32>)
  return
}
