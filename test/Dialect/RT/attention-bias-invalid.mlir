// RUN: tessera-opt %s -split-input-file -verify-diagnostics
!x = tensor<2x8x4x16xbf16>
func.func @rounded_biases(%x: !x, %t: tensor<32x4xbf16>, %i: i64) {
  // expected-error @+1 {{has biases of type 'tensor<32x4xbf16>'; their elements must be those of lse, 'f32'}}
  %o, %lse = rt.attention %x, %x, %x, %i, %i bias(%t)
      <causal, scale = 1.0, max_distance = 128> {row_q = 64 : i64, row_k = 64 : i64, row_v = 64 : i64,
      heads_total = 4 : i64, dropout = 0.0 : f64, stream = 0 : i64} : (!x, !x, !x, i64, i64, tensor<32x4xbf16>) -> (!x, tensor<2x4x8xf32>)
  return
}

// -----

!x = tensor<2x8x4x16xf32>
func.func @distance_without_a_table(%x: !x, %i: i64) {
  // expected-error @+1 {{has max_distance = 7 but no table of biases; give both or none}}
  %o, %lse = rt.attention %x, %x, %x, %i, %i
      <causal, scale = 1.0, max_distance = 7> {row_q = 64 : i64, row_k = 64 : i64, row_v = 64 : i64, heads_total = 4 : i64,
      dropout = 0.0 : f64, stream = 0 : i64} : (!x, !x, !x, i64, i64) -> (!x, tensor<2x4x8xf32>)
  return
}

// -----

!x = tensor<2x8x4x16xf32>
func.func @table_without_a_distance(%x: !x, %t: tensor<32x4xf32>, %i: i64) {
  // expected-error @+1 {{has 32 buckets to distance 0; it needs at least 2 and a distance above 16}}
  %o, %lse = rt.attention %x, %x, %x, %i, %i bias(%t)
      <causal, scale = 1.0> {row_q = 64 : i64, row_k = 64 : i64, row_v = 64 : i64, heads_total = 4 : i64,
      dropout = 0.0 : f64, stream = 0 : i64} : (!x, !x, !x, i64, i64, tensor<32x4xf32>) -> (!x, tensor<2x4x8xf32>)
  return
}
