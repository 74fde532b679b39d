// Matrix products, attention and lookups' gradients become calls of the runtime.
// RUN: tessera-opt %s --rt-lower-library | FileCheck %s

// CHECK-LABEL: @product_with_bias
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<8x6xf32>, %[[B:.*]]: tensor<6xf32>
func.func @product_with_bias(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %b: tensor<6xf32>) -> tensor<4x6xf32> {
  // CHECK-NEXT: rt.gemm %[[X]], %[[W]] bias(%[[B]] : tensor<6xf32>) {k = 8 : i64, lda = 8 : i64, ldb = 6 : i64,
  // CHECK-SAME: ldc = 6 : i64, m = 4 : i64, n = 6 : i64, nn.phase = #nn.phase<forward>, trans_a = false,
  // CHECK-SAME: trans_b = false}
  // CHECK-NEXT: return
  %y = nn.einsum "bh,hf->bf" %x, %w : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %z = nn.add "bf,f->bf" %y, %b {nn.phase = #nn.phase<forward>} : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return %z : tensor<4x6xf32>
}

// CHECK-LABEL: @transposed
func.func @transposed(%x: tensor<8x4xf32>, %w: tensor<6x8xf32>) -> tensor<4x6xf32> {
  // CHECK: rt.gemm {{.*}} lda = 4 : i64, ldb = 8 : i64, {{.*}} trans_a = true, trans_b = true
  %y = nn.einsum "hb,fh->bf" %x, %w : (tensor<8x4xf32>, tensor<6x8xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// A product that two ops read keeps its value: the bias is added by a kernel.
// CHECK-LABEL: @bias_is_not_folded_into_a_shared_product
func.func @bias_is_not_folded_into_a_shared_product(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %b: tensor<6xf32>)
    -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  // CHECK-NOT: bias(
  // CHECK: nn.add
  %y = nn.einsum "bh,hf->bf" %x, %w : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %z = nn.add "bf,f->bf" %y, %b : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return %y, %z : tensor<4x6xf32>, tensor<4x6xf32>
}

// CHECK-LABEL: @sum_of_products_accumulates
func.func @sum_of_products_accumulates(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>) -> tensor<4x6xf32> {
  // CHECK-NEXT: %[[FIRST:.*]] = rt.gemm
  // CHECK-NEXT: %[[BOTH:.*]] = rt.gemm {{.*}} into(%[[FIRST]] : tensor<4x6xf32>)
  // CHECK-NEXT: return %[[BOTH]]
  %y = nn.einsum "bh,hf->bf" %x, %w : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %z = nn.einsum "bh,hf->bf" %x, %w : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %s = nn.add "bf,bf->bf" %y, %z : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %s : tensor<4x6xf32>
}

// The slice of a split vocabulary that a rank holds: rows from coordinate * 5, the last one padded.
// CHECK-LABEL: @gradient_of_a_split_table
func.func @gradient_of_a_split_table(%g: tensor<2x4x8xf32>, %ids: tensor<2x4xi32>, %table: tensor<5x8xf32>)
    -> tensor<5x8xf32> {
  // CHECK: %[[ZERO:.*]] = rt.zero : tensor<5x8xf32>
  // CHECK: arith.constant 9 : i64
  // CHECK: rt.coord "tp"
  // CHECK: rt.scatter_add %{{.*}}, %{{.*}} into %[[ZERO]] at %{{.*}}, %{{.*}} : tensor<2x4x8xf32>, tensor<2x4xi32>,
  // CHECK-SAME: tensor<5x8xf32> -> tensor<5x8xf32>
  %d = nn.embedding_grad %g, %ids like %table {rt.factors = {v = {axes = ["tp"], chunks = array<i64: 5>,
      total = 9 : i64}}} : (tensor<2x4x8xf32>, tensor<2x4xi32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  return %d : tensor<5x8xf32>
}

!qkv = tensor<2x8x3x4x16xf32>
!x = tensor<2x8x4x16xf32>
!lse = tensor<2x4x8xf32>

// Attention reads the parts of the fused projection where they are, and its gradients are written in place.
// CHECK-LABEL: @attention_on_views
// CHECK-SAME: %[[QKV:.*]]: tensor<2x8x3x4x16xf32>
func.func @attention_on_views(%qkv: !qkv, %g: !x) -> !qkv {
  %q, %k, %v = nn.unstack %qkv along 2 : !qkv -> !x, !x, !x
  // CHECK-DAG: %[[Q:.*]] = rt.view %[[QKV]] {offset = 0 : i64, parts = 3 : i64}
  // CHECK-DAG: %[[K:.*]] = rt.view %[[QKV]] {offset = 64 : i64, parts = 3 : i64}
  // CHECK-DAG: %[[V:.*]] = rt.view %[[QKV]] {offset = 128 : i64, parts = 3 : i64}
  // CHECK: rt.attention %[[Q]], %[[K]], %[[V]], %{{.*}} <causal, scale = {{.*}}> {{{.*}}heads_total = 8 : i64, row_k = 192 : i64,
  // CHECK-SAME: row_q = 192 : i64, row_v = 192 : i64
  %o, %l = nn.attention %q, %k, %v <causal, scale = 0.25> {rt.factors = {n =
      {axes = ["tp"], chunks = array<i64: 4>, total = 8 : i64}}} : (!x, !x, !x) -> (!x, !lse)
  // CHECK: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = rt.attention_grad {{.*}} row_dk = 192 : i64, row_dq = 192 : i64,
  // CHECK-SAME: row_dv = 192 : i64
  %dq, %dk, %dv = nn.attention_grad %g, %q, %k, %v, %o, %l <causal, scale = 0.25> : (!x, !x, !x, !x, !x, !lse)
      -> (!x, !x, !x)
  // CHECK: rt.concat %[[DQ]], %[[DK]], %[[DV]] {part_offsets = array<i64: 0, 64, 128>}
  %d = nn.stack %dq, %dk, %dv along 2 : (!x, !x, !x) -> !qkv
  return %d : !qkv
}

// CHECK-LABEL: @attention_to_a_window
func.func @attention_to_a_window(%x: !x, %g: !x) -> !x {
  // CHECK: rt.attention {{.*}} <causal, scale = {{.*}}, window = 3> {
  %o, %l = nn.attention %x, %x, %x <causal, scale = 0.25, window = 3> : (!x, !x, !x) -> (!x, !lse)
  // CHECK: rt.attention_grad {{.*}} <causal, scale = {{.*}}, window = 3> {
  %dq, %dk, %dv = nn.attention_grad %g, %x, %x, %x, %o, %l <causal, scale = 0.25, window = 3>
      : (!x, !x, !x, !x, !x, !lse) -> (!x, !x, !x)
  return %dq : !x
}

// CHECK-LABEL: @attention_within_segments
// CHECK-SAME: %[[S:[a-z0-9]*]]: tensor<2x8xi32>
func.func @attention_within_segments(%s: tensor<2x8xi32>, %x: !x, %g: !x) -> !x {
  // CHECK: rt.attention %{{.*}} segments(%[[S]], %[[S]]) <
  %o, %l = nn.attention %x, %x, %x segments(%s, %s) <causal, scale = 0.25>
      : (!x, !x, !x, tensor<2x8xi32>, tensor<2x8xi32>) -> (!x, !lse)
  // CHECK: rt.attention_grad %{{.*}} segments(%[[S]], %[[S]]) <
  %dq, %dk, %dv = nn.attention_grad %g, %x, %x, %x, %o, %l segments(%s, %s) <causal, scale = 0.25>
      : (!x, !x, !x, !x, !x, !lse, tensor<2x8xi32>, tensor<2x8xi32>) -> (!x, !x, !x)
  return %dq : !x
}

// CHECK-LABEL: @first_rows_are_a_view
func.func @first_rows_are_a_view(%x: tensor<32x16xf32>) -> tensor<8x16xf32> {
  // CHECK-NEXT: rt.view %{{.*}} {offset = 0 : i64} : tensor<32x16xf32> -> tensor<8x16xf32>
  %y = nn.prefix %x rows 8 : tensor<32x16xf32> -> tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}

// CHECK-LABEL: @what_sampling_reads
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<1x4x61xf32>, %[[T:[a-z0-9]*]]: tensor<1x4x16xi32>, %[[N:[a-z0-9]*]]: tensor<1x4xf32>, %[[D:[a-z0-9]*]]: tensor<1x4x3xi32>
func.func @what_sampling_reads(%x: tensor<1x4x61xf32>, %t: tensor<1x4x16xi32>, %n: tensor<1x4xf32>, %d: tensor<1x4x3xi32>) -> (tensor<1x4x5x2xf32>, tensor<1x4x1x3xf32>) {
  // CHECK: %[[Y:.*]] = rt.penalize %[[X]], %[[T]], %[[N]] from %{{.*}} valid %{{.*}} : tensor<1x4x16xi32>, tensor<1x4xf32>, tensor<1x4x61xf32> -> tensor<1x4x61xf32>
  %y = nn.penalize %x, %t, %n : (tensor<1x4x61xf32>, tensor<1x4x16xi32>, tensor<1x4xf32>) -> tensor<1x4x61xf32>
  // CHECK: rt.top %[[Y]] from %{{.*}} valid %{{.*}} {{.*}}total = 61 : i64} : tensor<1x4x61xf32> -> tensor<1x4x5x2xf32>
  %b = nn.top %y {count = 5 : i64} : (tensor<1x4x61xf32>) -> tensor<1x4x5x2xf32>
  // CHECK: rt.top %[[Y]] from %{{.*}} valid %{{.*}} draw %[[N]], %[[D]] : tensor<1x4xf32>, tensor<1x4x3xi32> {{.*}}total = 61 : i64} : tensor<1x4x61xf32> -> tensor<1x4x1x3xf32>
  %c = nn.top %y draw %n, %d {count = 1 : i64} : (tensor<1x4x61xf32>, tensor<1x4xf32>, tensor<1x4x3xi32>) -> tensor<1x4x1x3xf32>
  return %b, %c : tensor<1x4x5x2xf32>, tensor<1x4x1x3xf32>
}

// A sum in chunks is a product with ones, which adds the chunks as a tree.
// CHECK-LABEL: @sums_in_chunks
// CHECK-SAME: %[[X:.*]]: tensor<8x3xf32>
func.func @sums_in_chunks(%x: tensor<8x3xf32>) -> (tensor<3xf32>, tensor<f32>) {
  // CHECK: %[[ONES:.*]] = nn.broadcast ",k->k" %{{.*}} like %{{.*}} -> tensor<8xf32>
  // CHECK: rt.gemm %[[ONES]], %[[X]] {chunks = 4 : i64, k = 8 : i64, {{.*}}nn.phase = #nn.phase<backward>
  %y = nn.einsum "kf->f" %x {dist.chunked_sums = {k = 4}, nn.phase = #nn.phase<backward>}
      : (tensor<8x3xf32>) -> tensor<3xf32>
  // The factor that is not cut is added first.
  // CHECK: %[[ROWS:.*]] = nn.einsum "kf->k" %[[X]]
  // CHECK: rt.gemm %{{.*}}, %[[ROWS]] {chunks = 4 : i64, k = 8 : i64
  %z = nn.einsum "kf->" %x {dist.chunked_sums = {k = 4}} : (tensor<8x3xf32>) -> tensor<f32>
  return %y, %z : tensor<3xf32>, tensor<f32>
}

// The product adds over everything after the batch, so its rows are as long as the distance between the
// slices' rows. It reads one piece all the same: the slice is copied.
// CHECK-LABEL: @product_of_a_slice
func.func @product_of_a_slice(%x: tensor<4x2x2x3x8xf32>, %w: tensor<5x2x3x8xf32>) -> tensor<4x5xf32> {
  // CHECK: %[[SLICE:.*]] = rt.view {{.*}}parts = 2
  // CHECK-NEXT: %[[COPY:.*]] = rt.copy %[[SLICE]]
  // CHECK: rt.gemm %[[COPY]]
  %a, %b = nn.unstack %x along 2 : tensor<4x2x2x3x8xf32> -> tensor<4x2x3x8xf32>, tensor<4x2x3x8xf32>
  %y = nn.einsum "bshd,fshd->bf" %a, %w : (tensor<4x2x3x8xf32>, tensor<5x2x3x8xf32>) -> tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}
