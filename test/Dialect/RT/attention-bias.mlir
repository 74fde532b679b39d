// The table of biases stands after the scalars, of which the first query's position may be absent.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s
!x = tensor<2x8x4x16xf32>
!l = tensor<2x4x8xf32>
!t = tensor<32x4xf32>
// CHECK-LABEL: @biased
func.func @biased(%x: !x, %l: !l, %t: !t, %i: i64) {
  // CHECK: rt.attention %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %[[I:[a-z0-9]+]],
  // CHECK-SAME: %[[I]] bias(%[[T:[a-z0-9]+]]) <causal, scale = 1.000000e+00, max_distance = 128> {
  %o, %lse = rt.attention %x, %x, %x, %i, %i bias(%t)
      <causal, scale = 1.0, max_distance = 128> {row_q = 64 : i64, row_k = 64 : i64, row_v = 64 : i64, heads_total = 4 : i64,
      dropout = 0.0 : f64, stream = 0 : i64} : (!x, !x, !x, i64, i64, !t) -> (!x, !l)
  // CHECK: rt.attention_grad {{.*}}, %[[I]], %[[I]], %[[I]] bias(%[[T]]) <
  // CHECK-SAME: -> ({{.*}}, tensor<32x4xf32>)
  %dq, %dk, %dv, %dt = rt.attention_grad %x, %x, %x, %x, %o, %l, %i, %i, %i bias(%t)
      <causal, scale = 1.0, max_distance = 128> {row_q = 64 : i64, row_k = 64 : i64, row_v = 64 : i64, row_dq = 64 : i64,
      row_dk = 64 : i64, row_dv = 64 : i64, heads_total = 4 : i64, dropout = 0.0 : f64, stream = 0 : i64,
      queries_total = 16 : i64} : (!x, !x, !x, !x, !x, !l, i64, i64, i64, !t) -> (!x, !x, !x, !t)
  return
}
