// Steps of a ring, first and later ones; shifts, awaited or not; to chunks and back.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s
!x = tensor<2x4x3x8xf32>
!lse = tensor<2x3x4xf32>
// CHECK-LABEL: @steps
func.func @steps(%x: !x, %s: i64) {
  // CHECK: rt.shift %{{.*}} over ["cp"] : tensor<2x4x3x8xf32> -> tensor<2x4x3x8xf32>
  %k = rt.shift %x over ["cp"] : !x -> !x
  // CHECK: rt.shift %{{.*}} over ["cp"] async
  %p = rt.shift %k over ["cp"] async : !x -> !x
  // CHECK: rt.shift %{{.*}} over ["cp"] {distance = 2 : i64}
  %far = rt.shift %k over ["cp"] {distance = 2 : i64} : !x -> !x
  // CHECK: rt.wait %{{.*}} reading(
  %w = rt.wait %p reading(%k : !x) : !x -> !x
  // CHECK: %[[O:.*]], %[[L:.*]] = rt.ring_attention
  %o, %l = rt.ring_attention %x, %x, %x, %s, %s, %s, %s
      <causal, scale = 1.0> {dropout = 0.0 : f64, heads_total = 3 : i64, keys_total = 8 : i64, queries_total = 8 : i64,
      row_k = 24 : i64, row_q = 24 : i64, row_v = 24 : i64, stream = 0
      : i64} : (!x, !x, !x, i64, i64, i64, i64) -> (!x, !lse)
  // CHECK: rt.ring_attention {{.*}}, %[[O]], %[[L]] <causal
  %o1, %l1 = rt.ring_attention %x, %k, %w, %s, %s, %s, %s, %o, %l
      <causal, scale = 1.0> {dropout = 0.0 : f64, heads_total = 3 : i64, keys_total = 8 : i64, queries_total = 8 : i64,
      row_k = 24 : i64, row_q = 24 : i64, row_v = 24 : i64, stream = 0
      : i64} : (!x, !x, !x, i64, i64, i64, i64, !x, !lse) -> (!x, !lse)
  // CHECK: %[[C:.*]]:2 = rt.zigzag %{{.*}} along 1 over ["cp"] : tensor<2x4x3x8xf32>
  // CHECK-SAME: -> tensor<2x2x3x8xf32>, tensor<2x2x3x8xf32>
  %c:2 = rt.zigzag %x along 1 over ["cp"] : !x -> tensor<2x2x3x8xf32>, tensor<2x2x3x8xf32>
  // CHECK: rt.zigzag %[[C]]#0, %[[C]]#1 along 1 over ["cp"] : tensor<2x2x3x8xf32>, tensor<2x2x3x8xf32>
  // CHECK-SAME: -> tensor<2x4x3x8xf32>
  %z = rt.zigzag %c#0, %c#1 along 1 over ["cp"] : tensor<2x2x3x8xf32>, tensor<2x2x3x8xf32> -> !x
  return
}
