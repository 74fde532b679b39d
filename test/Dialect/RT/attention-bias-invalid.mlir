// RUN: tessera-opt %s -split-input-file -verify-diagnostics
!x = tensor<2x8x4x16xbf16>
func.func @rounded_biases(%x: !x, %t: tensor<32x4xbf16>, %i: i64) {
  // expected-error @+1 {{has biases of type 'tensor<32x4xbf16>'; their elements must be those of lse, 'f32'}}
  %o, %lse = rt.attention %x, %x, %x, %i, %i bias(%t)
      <causal, scale = 1.0> {row_q = 64 : i64, row_k = 64 : i64, row_v = 64 : i64, heads_total = 4 : i64,
      dropout = 0.0 : f64, stream = 0 : i64, max_distance = 128
      : i64} : (!x, !x, !x, i64, i64, tensor<32x4xbf16>) -> (!x, tensor<2x4x8xf32>)
  return
}
