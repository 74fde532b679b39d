// A call has segments of its own queries and keys; a step of a ring those of all positions.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics | FileCheck %s

!x = tensor<2x8x4x16xf32>
!lse = tensor<2x4x8xf32>
// CHECK-LABEL: @whole_keys
func.func @whole_keys(%x: !x, %i: i64, %s: tensor<2x8xi32>) {
  // CHECK: rt.attention %{{.*}} segments(%[[S:.*]], %[[S]]) <
  %o, %l = rt.attention %x, %x, %x, %i, %i segments(%s, %s) <causal, scale = 0.25> {row_q = 64 : i64, row_k = 64 : i64, row_v = 64 : i64,
      heads_total = 4 : i64, dropout = 0.0 : f64, stream = 0 : i64}
      : (!x, !x, !x, i64, i64, tensor<2x8xi32>, tensor<2x8xi32>) -> (!x, !lse)
  return
}

// CHECK-LABEL: @slice
func.func @slice(%x: !x, %i: i64, %o0: !x, %l0: !lse, %s: tensor<2x16xi32>) {
  // CHECK: rt.ring_attention %{{.*}} segments(%[[S:.*]], %[[S]]) <
  %o, %l = rt.ring_attention %x, %x, %x, %i, %i, %i, %i, %o0, %l0 segments(%s, %s) <causal, scale = 0.25> {row_q = 64 : i64,
      row_k = 64 : i64, row_v = 64 : i64, heads_total = 4 : i64,
      dropout = 0.0 : f64, stream = 0 : i64, queries_total = 16 : i64, keys_total = 16 : i64}
      : (!x, !x, !x, i64, i64, i64, i64, !x, !lse, tensor<2x16xi32>, tensor<2x16xi32>) -> (!x, !lse)
  return
}

// -----

!x = tensor<2x8x4x16xf32>
func.func @of_a_slice(%x: !x, %i: i64, %s: tensor<2x8xi32>) {
  // expected-error @+1 {{needs segments of 2 x 16 queries and of 2 x 16 keys, or none}}
  %o, %l = rt.ring_attention %x, %x, %x, %i, %i, %i, %i segments(%s, %s) <causal, scale = 0.25> {row_q = 64 : i64,
      row_k = 64 : i64, row_v = 64 : i64, heads_total = 4 : i64,
      dropout = 0.0 : f64, stream = 0 : i64, queries_total = 16 : i64, keys_total = 16 : i64}
      : (!x, !x, !x, i64, i64, i64, i64, tensor<2x8xi32>, tensor<2x8xi32>) -> (!x, tensor<2x4x8xf32>)
  return
}
