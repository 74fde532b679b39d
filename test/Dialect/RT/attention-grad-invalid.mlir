// RUN: tessera-opt %s -split-input-file -verify-diagnostics

!x = tensor<2x8x1x16xf32>
!lse = tensor<2x1x8xf32>
func.func @gradient_without_heads(%x: !x, %lse: !lse, %i: i64) {
  // expected-error @+1 {{has an operand or result of rank 3; it must be 4: batch, sequence, heads, head size}}
  %dq, %dk, %dv = rt.attention_grad %x, %x, %x, %x, %x, %lse, %i, %i
      <causal, scale = 1.0> {row_q = 16 : i64, row_k = 16 : i64, row_v = 16 : i64, row_dq = 16 : i64, row_dk = 16 : i64, row_dv = 16 : i64,
      heads_total = 1 : i64, dropout = 0.0 : f64, stream = 0 : i64}
      : (!x, !x, !x, !x, !x, !lse, i64, i64) -> (!x, !x, tensor<2x8x16xf32>)
  return
}

// -----

!x = tensor<2x8x4x16xf32>
!l = tensor<2x4x8xf32>
!y = tensor<2x8x4x8xf32>
func.func @other_head_size_of_values(%x: !x, %y: !y, %l: !l, %i: i64) {
  // expected-error @+1 {{has values of 2 x 8 x 4 x 8; beside the others it must be 2 x 8 x 4 x 16}}
  %dq, %dk, %dv = rt.attention_grad %y, %x, %x, %y, %y, %l, %i, %i
      <causal, scale = 0.25> {row_q = 64 : i64, row_k = 64 : i64, row_v = 64 : i64, row_dq = 64 : i64, row_dk = 64 : i64, row_dv = 64 : i64,
      heads_total = 4 : i64, dropout = 0.0 : f64, stream = 0 : i64}
      : (!y, !x, !x, !y, !y, !l, i64, i64) -> (!x, !x, !y)
  return
}

// -----

!x = tensor<2x8x4x16xf32>
!l = tensor<2x4x8xf32>
!y = tensor<2x8x4x8xf32>
func.func @gradient_of_another_output(%x: !x, %y: !y, %l: !l, %i: i64) {
  // expected-error @+1 {{has gradients of outputs of 2 x 8 x 4 x 8; beside the others it must be 2 x 8 x 4 x 16}}
  %dq, %dk, %dv = rt.attention_grad %y, %x, %x, %x, %x, %l, %i, %i
      <causal, scale = 0.25> {row_q = 64 : i64, row_k = 64 : i64, row_v = 64 : i64, row_dq = 64 : i64, row_dk = 64 : i64, row_dv = 64 : i64,
      heads_total = 4 : i64, dropout = 0.0 : f64, stream = 0 : i64}
      : (!y, !x, !x, !x, !x, !l, i64, i64) -> (!x, !x, !x)
  return
}

// -----

!x = tensor<2x8x4x16xf32>
!l = tensor<2x4x8xf32>
!y = tensor<2x8x4x8xf32>
func.func @another_output(%x: !x, %y: !y, %l: !l, %i: i64) {
  // expected-error @+1 {{has outputs of 2 x 8 x 4 x 8; beside the others it must be 2 x 8 x 4 x 16}}
  %dq, %dk, %dv = rt.attention_grad %x, %x, %x, %x, %y, %l, %i, %i
      <causal, scale = 0.25> {row_q = 64 : i64, row_k = 64 : i64, row_v = 64 : i64, row_dq = 64 : i64, row_dk = 64 : i64, row_dv = 64 : i64,
      heads_total = 4 : i64, dropout = 0.0 : f64, stream = 0 : i64}
      : (!x, !x, !x, !x, !y, !l, i64, i64) -> (!x, !x, !x)
  return
}

// -----

!x = tensor<2x8x4x16xf32>
!l = tensor<2x4x8xf32>
!y = tensor<2x8x4x8xf32>
func.func @other_queries(%x: !x, %y: !y, %l: !l, %i: i64) {
  // expected-error @+1 {{has gradients of queries of 2 x 8 x 4 x 8; beside the others it must be 2 x 8 x 4 x 16}}
  %dq, %dk, %dv = rt.attention_grad %x, %x, %x, %x, %x, %l, %i, %i
      <causal, scale = 0.25> {row_q = 64 : i64, row_k = 64 : i64, row_v = 64 : i64, row_dq = 64 : i64, row_dk = 64 : i64, row_dv = 64 : i64,
      heads_total = 4 : i64, dropout = 0.0 : f64, stream = 0 : i64}
      : (!x, !x, !x, !x, !x, !l, i64, i64) -> (!y, !x, !x)
  return
}

// -----

!x = tensor<2x8x4x16xf32>
!l = tensor<2x4x8xf32>
!y = tensor<2x8x4x8xf32>
func.func @other_keys(%x: !x, %y: !y, %l: !l, %i: i64) {
  // expected-error @+1 {{has gradients of keys of 2 x 8 x 4 x 8; beside the others it must be 2 x 8 x 4 x 16}}
  %dq, %dk, %dv = rt.attention_grad %x, %x, %x, %x, %x, %l, %i, %i
      <causal, scale = 0.25> {row_q = 64 : i64, row_k = 64 : i64, row_v = 64 : i64, row_dq = 64 : i64, row_dk = 64 : i64, row_dv = 64 : i64,
      heads_total = 4 : i64, dropout = 0.0 : f64, stream = 0 : i64}
      : (!x, !x, !x, !x, !x, !l, i64, i64) -> (!x, !y, !x)
  return
}

// -----

!x = tensor<2x8x4x16xf32>
!l = tensor<2x4x8xf32>
!y = tensor<2x8x4x8xf32>
func.func @other_values(%x: !x, %y: !y, %l: !l, %i: i64) {
  // expected-error @+1 {{has gradients of values of 2 x 8 x 4 x 8; beside the others it must be 2 x 8 x 4 x 16}}
  %dq, %dk, %dv = rt.attention_grad %x, %x, %x, %x, %x, %l, %i, %i
      <causal, scale = 0.25> {row_q = 64 : i64, row_k = 64 : i64, row_v = 64 : i64, row_dq = 64 : i64, row_dk = 64 : i64, row_dv = 64 : i64,
      heads_total = 4 : i64, dropout = 0.0 : f64, stream = 0 : i64}
      : (!x, !x, !x, !x, !x, !l, i64, i64) -> (!x, !x, !y)
  return
}

// -----

!x = tensor<2x8x4x16xf32>
!l = tensor<2x4x8xf32>
func.func @rows_of_gradients_overlap(%x: !x, %l: !l, %i: i64) {
  // expected-error @+1 {{has a row of gradients of values every 32 elements, but a row has 64; use a stride of at least that}}
  %dq, %dk, %dv = rt.attention_grad %x, %x, %x, %x, %x, %l, %i, %i
      <causal, scale = 0.25> {row_q = 64 : i64, row_k = 64 : i64, row_v = 64 : i64, row_dq = 64 : i64, row_dk = 64 : i64, row_dv = 32 : i64,
      heads_total = 4 : i64, dropout = 0.0 : f64, stream = 0 : i64}
      : (!x, !x, !x, !x, !x, !l, i64, i64) -> (!x, !x, !x)
  return
}
