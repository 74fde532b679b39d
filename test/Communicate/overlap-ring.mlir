// The next slice is on its way while this one is used.
// RUN: tessera-opt %s --rt-overlap-collectives | FileCheck %s
!x = tensor<2x4x3x8xf32>
!lse = tensor<2x3x4xf32>
module attributes {dist.mesh = #dist.mesh<cp = 3>} {
  // CHECK-LABEL: @step
  func.func @step(%a: !x) -> !x {
    %s = arith.constant 0 : i64
    %x = rt.copy %a : !x -> !x
    // CHECK: %[[K1:.*]] = rt.shift %{{.*}} over ["cp"] async
    // CHECK: rt.ring_attention
    // CHECK: %[[HERE:.*]] = rt.wait %[[K1]]
    // CHECK: %[[K2:.*]] = rt.shift %[[HERE]] over ["cp"] async
    // CHECK: rt.ring_attention %{{.*}}, %[[HERE]], %[[HERE]]
    // CHECK: %[[LAST:.*]] = rt.wait %[[K2]]
    // CHECK: rt.ring_attention %{{.*}}, %[[LAST]], %[[LAST]]
    %k1 = rt.shift %x over ["cp"] : !x -> !x
    %o, %l = rt.ring_attention %a, %x, %x, %s, %s, %s, %s
        <causal, scale = 1.0> {dropout = 0.0 : f64, heads_total = 3 : i64, keys_total = 12 : i64, queries_total = 12 : i64,
        row_k = 24 : i64, row_q = 24 : i64, row_v = 24 : i64, stream = 0
        : i64} : (!x, !x, !x, i64, i64, i64, i64) -> (!x, !lse)
    %k2 = rt.shift %k1 over ["cp"] : !x -> !x
    %o1, %l1 = rt.ring_attention %a, %k1, %k1, %s, %s, %s, %s, %o, %l
        <causal, scale = 1.0> {dropout = 0.0 : f64, heads_total = 3 : i64, keys_total = 12 : i64, queries_total = 12 : i64,
        row_k = 24 : i64, row_q = 24 : i64, row_v = 24 : i64, stream = 0
        : i64} : (!x, !x, !x, i64, i64, i64, i64, !x, !lse) -> (!x, !lse)
    %o2, %l2 = rt.ring_attention %a, %k2, %k2, %s, %s, %s, %s, %o1, %l1
        <causal, scale = 1.0> {dropout = 0.0 : f64, heads_total = 3 : i64, keys_total = 12 : i64, queries_total = 12 : i64,
        row_k = 24 : i64, row_q = 24 : i64, row_v = 24 : i64, stream = 0
        : i64} : (!x, !x, !x, i64, i64, i64, i64, !x, !lse) -> (!x, !lse)
    return %o2 : !x
  }
}
