// Every op of the lowered program, as it is printed.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s

// CHECK-LABEL: @scalars
func.func @scalars() -> i64 {
  // CHECK: rt.coord "tp"
  %c = rt.coord "tp"
  // CHECK: rt.step
  %t = rt.step
  // CHECK: rt.seed
  %s = rt.seed
  // CHECK: rt.stream_key %{{.*}}, %{{.*}}, 3
  %k = rt.stream_key %s, %t, 3
  return %k : i64
}

// CHECK-LABEL: @buffers
func.func @buffers(%i: i64) {
  // CHECK: rt.zero : tensor<2x8xf32>
  %z = rt.zero : tensor<2x8xf32>
  // CHECK: rt.copy %{{.*}} : tensor<2x8xf32> -> tensor<2x8xf32>
  %c = rt.copy %z : tensor<2x8xf32> -> tensor<2x8xf32>
  // CHECK: rt.view %{{.*}}[%{{.*}}] {offset = 0 : i64, stride = 8 : i64} : tensor<2x8xf32> -> tensor<8xf32>
  %v = rt.view %c[%i] {offset = 0 : i64, stride = 8 : i64} : tensor<2x8xf32> -> tensor<8xf32>
  // CHECK: rt.concat %{{.*}}, %{{.*}} {part_offsets = array<i64: 0, 8>} : (tensor<8xf32>, tensor<8xf32>)
  // CHECK-SAME: -> tensor<16xf32>
  %j = rt.concat %v, %v {part_offsets = array<i64: 0, 8>} : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  return
}

// CHECK-LABEL: @collectives
func.func @collectives(%x: tensor<8xf32>) {
  // CHECK: rt.all_reduce %{{.*}} over ["dp", "tp"] {maximum = true} : tensor<8xf32> -> tensor<8xf32>
  %r = rt.all_reduce %x over ["dp", "tp"] {maximum = true} : tensor<8xf32> -> tensor<8xf32>
  // CHECK: rt.first %{{.*}} on "tp" : tensor<8xf32> -> tensor<8xf32>
  %f = rt.first %x on "tp" : tensor<8xf32> -> tensor<8xf32>
  return
}

// CHECK-LABEL: @library
func.func @library(%a: tensor<4x16xf32>, %b: tensor<16x8xf32>, %bias: tensor<8xf32>, %acc: tensor<4x8xf32>,
    %ids: tensor<4xi32>, %i: i64) {
  // CHECK: rt.gemm %{{.*}}, %{{.*}} bias(%{{.*}} : tensor<8xf32>) into(%{{.*}} : tensor<4x8xf32>)
  %c = rt.gemm %a, %b bias(%bias : tensor<8xf32>) into(%acc : tensor<4x8xf32>)
      {m = 4 : i64, n = 8 : i64, k = 16 : i64, lda = 16 : i64, ldb = 8 : i64, ldc = 8 : i64, trans_a = false,
      trans_b = false} : tensor<4x16xf32>, tensor<16x8xf32> -> tensor<4x8xf32>
  // CHECK: rt.gemm %{{.*}}, %{{.*}} bias(%{{.*}} : tensor<8xf32>) {{{.*}}} : tensor<4x16xf32>, tensor<16x8xf32>
  // CHECK-SAME: -> tensor<4x8xf32> saving tensor<4x8xf32>
  %y, %p = rt.gemm %a, %b bias(%bias : tensor<8xf32>)
      {m = 4 : i64, n = 8 : i64, k = 16 : i64, lda = 16 : i64, ldb = 8 : i64, ldc = 8 : i64, trans_a = false,
      trans_b = false} : tensor<4x16xf32>, tensor<16x8xf32> -> tensor<4x8xf32> saving tensor<4x8xf32>
  // CHECK: rt.gemm %{{.*}}, %{{.*}} gelu_grad(%{{.*}} : tensor<4x8xf32>) {{{.*}}} : tensor<4x16xf32>, tensor<16x8xf32>
  // CHECK-SAME: -> tensor<4x8xf32>
  %dp = rt.gemm %a, %b gelu_grad(%p : tensor<4x8xf32>)
      {m = 4 : i64, n = 8 : i64, k = 16 : i64, lda = 16 : i64, ldb = 8 : i64, ldc = 8 : i64, trans_a = false,
      trans_b = false} : tensor<4x16xf32>, tensor<16x8xf32> -> tensor<4x8xf32>
  // CHECK: rt.gemm %{{.*}}, %{{.*}} summing b {{{.*}}} : tensor<4x16xf32>, tensor<16x8xf32>
  // CHECK-SAME: -> tensor<4x8xf32> sums tensor<8xf32>
  %dw, %db = rt.gemm %a, %b summing b
      {m = 4 : i64, n = 8 : i64, k = 16 : i64, lda = 16 : i64, ldb = 8 : i64, ldc = 8 : i64, trans_a = false,
      trans_b = false} : tensor<4x16xf32>, tensor<16x8xf32> -> tensor<4x8xf32> sums tensor<8xf32>
  // CHECK: rt.scatter_add %{{.*}}, %{{.*}} into %{{.*}} at %{{.*}}, %
  // CHECK-SAME: : tensor<4x8xf32>, tensor<4xi32>, tensor<16x8xf32> -> tensor<16x8xf32>
  %s = rt.scatter_add %c, %ids into %b at %i, %i : tensor<4x8xf32>, tensor<4xi32>, tensor<16x8xf32> -> tensor<16x8xf32>
  // CHECK: rt.launch @kernel(%{{.*}}) scalars(%{{.*}}) {count = 4 : i64, grain = 1 : i64} : (tensor<4x8xf32>)
  // CHECK-SAME: -> tensor<4x8xf32>
  %k = rt.launch @kernel(%c) scalars(%i) {count = 4 : i64, grain = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: @attention
func.func @attention(%x: tensor<2x8x1x16xf32>, %i: i64) {
  // CHECK: rt.attention %
  // CHECK-SAME: -> (tensor<2x8x1x16xf32>, tensor<2x1x8xf32>)
  %o, %lse = rt.attention %x, %x, %x, %i, %i
      <causal, scale = 1.0> {row_q = 16 : i64, row_k = 16 : i64, row_v = 16 : i64, heads_total = 1 : i64,
      dropout = 0.0 : f64, stream = 0
      : i64} : (tensor<2x8x1x16xf32>, tensor<2x8x1x16xf32>, tensor<2x8x1x16xf32>, i64, i64) -> (tensor<2x8x1x16xf32>,
      tensor<2x1x8xf32>)
  // CHECK: rt.attention_grad %
  // CHECK-SAME: -> (tensor<2x8x1x16xf32>, tensor<2x8x1x16xf32>, tensor<2x8x1x16xf32>)
  %d:3 = rt.attention_grad %x, %x, %x, %x, %o, %lse, %i, %i
      <causal, scale = 1.0> {row_q = 16 : i64, row_k = 16 : i64, row_v = 16 : i64, row_dq = 16 : i64, row_dk = 16 : i64, row_dv = 16 : i64,
      heads_total = 1 : i64, dropout = 0.0 : f64, stream = 0 : i64}
      : (tensor<2x8x1x16xf32>, tensor<2x8x1x16xf32>, tensor<2x8x1x16xf32>, tensor<2x8x1x16xf32>, tensor<2x8x1x16xf32>,
          tensor<2x1x8xf32>, i64, i64) -> (tensor<2x8x1x16xf32>, tensor<2x8x1x16xf32>, tensor<2x8x1x16xf32>)
  return
}

// CHECK-LABEL: @loop
func.func @loop(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: rt.loop 2 init(%{{.*}}) : (tensor<8xf32>) -> tensor<8xf32>
  %y = rt.loop 2 init(%x) : (tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: ^bb0(%{{.*}}: i64, %{{.*}}: tensor<8xf32>)
  ^bb0(%i: i64, %a: tensor<8xf32>):
    // CHECK: rt.yield %{{.*}} : tensor<8xf32>
    rt.yield %a : tensor<8xf32>
  }
  return %y : tensor<8xf32>
}
