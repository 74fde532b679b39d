// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @no_dimension_of_heads(%q: tensor<2x8x16xf32>, %i: i64) {
  // expected-error @+1 {{has an operand or result of rank 3; it must be 4: batch, sequence, heads, head size}}
  %o, %lse = rt.attention %q, %q, %q, %i, %i
      {row_q = 16 : i64, row_k = 16 : i64, row_v = 16 : i64, heads_total = 1 : i64, scale = 1.0 : f64, causal = true,
      dropout = 0.0 : f64, stream = 0
      : i64} : (tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, i64, i64) -> (tensor<2x8x16xf32>,
      tensor<2x1x8xf32>)
  return
}

// -----

!x = tensor<2x8x1x16xf32>
func.func @start_is_narrow(%q: !x, %i: i32) {
  // expected-error @+1 {{operand #3 must be 64-bit signless integer, but got 'i32'}}
  %o, %lse = rt.attention %q, %q, %q, %i, %i
      {row_q = 16 : i64, row_k = 16 : i64, row_v = 16 : i64, heads_total = 1 : i64, scale = 1.0 : f64, causal = true,
      dropout = 0.0 : f64, stream = 0 : i64} : (!x, !x, !x, i32, i32) -> (!x, tensor<2x1x8xf32>)
  return
}
