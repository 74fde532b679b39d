// GELU, its gradient and sums of an operand become part of a product where that stores nothing that
// was not stored before.
// RUN: tessera-opt %s --rt-gemm-epilogues -split-input-file | FileCheck %s

// The MLP of a layer, forward and backward: three epilogues, no kernel op is left. Marks follow the values.
// CHECK-LABEL: func.func @step
// CHECK:      %[[Y:[^,]*]], %[[P:.*]] = rt.gemm %{{.*}}, %{{.*}} bias(%{{.*}}) {{.*}}rt.keep = [{name = "gelu"},
// CHECK-SAME: {name = "linear"}]{{.*}} -> tensor<4x8xbf16> saving tensor<4x8xbf16>
// CHECK-NEXT: rt.gemm %[[Y]]
// CHECK-NEXT: %[[DP:.*]] = rt.gemm %{{.*}}, %{{.*}} gelu_grad(%[[P]]
// CHECK-SAME: : tensor<4x8xbf16>) {{.*}}rt.keep = [{name = "gelu'"}]
// CHECK-NEXT: %[[DW:[^,]*]], %[[DB:.*]] = rt.gemm %{{.*}}, %[[DP]] summing b {{.*}}rt.role = [{nn.param = "w"},
// CHECK-SAME: {nn.param = "b"}]{{.*}} -> tensor<4x8xf32> sums tensor<8xf32>
// CHECK-NEXT: return %{{.*}}, %[[DW]], %[[DB]]
func.func @step(%x: tensor<4x4xbf16>, %w: tensor<4x8xbf16>, %b: tensor<8xbf16>, %v: tensor<8x4xbf16>,
    %dy: tensor<4x4xbf16>) -> (tensor<4x4xbf16>, tensor<4x8xf32>, tensor<8xf32>) {
  %p = rt.gemm %x, %w bias(%b : tensor<8xbf16>) {m = 4 : i64, n = 8 : i64, k = 4 : i64, lda = 4 : i64, ldb = 8 : i64,
      ldc = 8 : i64, trans_a = false, trans_b = false, rt.keep = [{name = "linear"}]}
      : tensor<4x4xbf16>, tensor<4x8xbf16> -> tensor<4x8xbf16>
  %y = nn.map gelu_tanh %p {rt.keep = [{name = "gelu"}]} : tensor<4x8xbf16> -> tensor<4x8xbf16>
  %z = rt.gemm %y, %v {m = 4 : i64, n = 4 : i64, k = 8 : i64, lda = 8 : i64, ldb = 4 : i64, ldc = 4 : i64,
      trans_a = false, trans_b = false} : tensor<4x8xbf16>, tensor<8x4xbf16> -> tensor<4x4xbf16>
  %g = rt.gemm %dy, %v {nn.phase = #nn.phase<backward>, m = 4 : i64, n = 8 : i64, k = 4 : i64, lda = 4 : i64,
      ldb = 4 : i64, ldc = 8 : i64, trans_a = false, trans_b = true, rt.keep = [{name = "product"}]}
      : tensor<4x4xbf16>, tensor<8x4xbf16> -> tensor<4x8xbf16>
  %dp = nn.map_grad gelu_tanh %g, %p {nn.phase = #nn.phase<backward>, rt.keep = [{name = "gelu'"}]}
      : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %db = nn.einsum "bf->f" %dp {element_type = f32, nn.phase = #nn.phase<backward>, rt.role = [{nn.param = "b"}]}
      : (tensor<4x8xbf16>) -> tensor<8xf32>
  %dw = rt.gemm %x, %dp {nn.phase = #nn.phase<backward>, m = 4 : i64, n = 8 : i64, k = 4 : i64, lda = 4 : i64,
      ldb = 8 : i64, ldc = 8 : i64, trans_a = true, trans_b = false, rt.role = [{nn.param = "w"}]}
      : tensor<4x4xbf16>, tensor<4x8xbf16> -> tensor<4x8xf32>
  return %z, %dw, %db : tensor<4x4xbf16>, tensor<4x8xf32>, tensor<8xf32>
}

// -----

// A matrix [out, in] gets its bias gradient from a. The op that adds it to those of other
// micro-batches moves after the product.
// CHECK-LABEL: func.func @step
// CHECK:      %{{.*}}, %[[DB:.*]] = rt.gemm %{{.*}}, %{{.*}} into(%{{.*}}) summing a
// CHECK-NEXT: nn.add "a,a->a" %{{.*}}, %[[DB]]
func.func @step(%x: tensor<4x6xf32>, %g: tensor<4x8xf32>, %w0: tensor<8x6xf32>, %b0: tensor<8xf32>)
    -> (tensor<8x6xf32>, tensor<8xf32>) {
  %db = nn.einsum "bf->f" %g : (tensor<4x8xf32>) -> tensor<8xf32>
  %b1 = nn.add "a,a->a" %b0, %db : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %w1 = rt.gemm %g, %x into(%w0 : tensor<8x6xf32>) {m = 8 : i64, n = 6 : i64, k = 4 : i64, lda = 8 : i64, ldb = 6 : i64,
      ldc = 6 : i64, trans_a = true, trans_b = false} : tensor<4x8xf32>, tensor<4x6xf32> -> tensor<8x6xf32>
  return %w1, %b1 : tensor<8x6xf32>, tensor<8xf32>
}

// -----

// A kernel that does more: the activation of a gated layer, of another function, of a product that goes on adding.
// CHECK-LABEL: func.func @step
// CHECK-NOT:   saving
// CHECK-NOT:   gelu_grad
// CHECK-NOT:   summing
func.func @step(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %u: tensor<4x8xf32>, %acc: tensor<4x8xf32>)
    -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %p = rt.gemm %x, %w {m = 4 : i64, n = 8 : i64, k = 8 : i64, lda = 8 : i64, ldb = 8 : i64, ldc = 8 : i64,
      trans_a = false, trans_b = false} : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %gelu = nn.map gelu_tanh %p : tensor<4x8xf32> -> tensor<4x8xf32>
  %y = nn.einsum "ab,ab->ab" %gelu, %u : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %q = rt.gemm %y, %w {m = 4 : i64, n = 8 : i64, k = 8 : i64, lda = 8 : i64, ldb = 8 : i64, ldc = 8 : i64,
      trans_a = false, trans_b = false} : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %erf = nn.map gelu %q : tensor<4x8xf32> -> tensor<4x8xf32>
  %r = rt.gemm %erf, %w into(%acc : tensor<4x8xf32>) {m = 4 : i64, n = 8 : i64, k = 8 : i64, lda = 8 : i64,
      ldb = 8 : i64, ldc = 8 : i64, trans_a = false, trans_b = false} : tensor<4x8xf32>, tensor<8x8xf32>
      -> tensor<4x8xf32>
  %s = nn.map gelu_tanh %r : tensor<4x8xf32> -> tensor<4x8xf32>
  %t = rt.gemm %s, %w {m = 4 : i64, n = 8 : i64, k = 8 : i64, lda = 8 : i64, ldb = 8 : i64, ldc = 8 : i64,
      trans_a = false, trans_b = false} : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  return %y, %q, %r, %t : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// A product that backward reads twice is stored; sums of f32 rows are not those of the bf16 rows
// that a product reads; rows that a kernel adds up anyway are read once.
// CHECK-LABEL: func.func @step
// CHECK-NOT:   gelu_grad
// CHECK-NOT:   summing
func.func @step(%x: tensor<4x8xbf16>, %p: tensor<4x8xbf16>, %w: tensor<8x8xbf16>, %f: tensor<4x8xf32>)
    -> (tensor<4x8xbf16>, tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8x8xf32>) {
  %g = rt.gemm %x, %w {m = 4 : i64, n = 8 : i64, k = 8 : i64, lda = 8 : i64, ldb = 8 : i64, ldc = 8 : i64,
      trans_a = false, trans_b = false} : tensor<4x8xbf16>, tensor<8x8xbf16> -> tensor<4x8xbf16>
  %dp = nn.map_grad gelu_tanh %g, %p : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %dw = rt.gemm %g, %dp {m = 8 : i64, n = 8 : i64, k = 4 : i64, lda = 8 : i64, ldb = 8 : i64, ldc = 8 : i64,
      trans_a = true, trans_b = false} : tensor<4x8xbf16>, tensor<4x8xbf16> -> tensor<8x8xf32>
  %sum = nn.einsum "bf->f" %dp {element_type = f32} : (tensor<4x8xbf16>) -> tensor<8xf32>
  %wide = nn.cast %dp to f32 : tensor<4x8xbf16> -> tensor<4x8xf32>
  %other = nn.einsum "bf,bf->f" %wide, %f : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8xf32>
  %row = nn.cast %f to bf16 : tensor<4x8xf32> -> tensor<4x8xbf16>
  %rows = nn.einsum "bf->f" %f : (tensor<4x8xf32>) -> tensor<8xf32>
  %dv = rt.gemm %x, %row {m = 8 : i64, n = 8 : i64, k = 4 : i64, lda = 8 : i64, ldb = 8 : i64, ldc = 8 : i64,
      trans_a = true, trans_b = false} : tensor<4x8xbf16>, tensor<4x8xbf16> -> tensor<8x8xf32>
  return %g, %dw, %sum, %other, %rows, %dv : tensor<4x8xbf16>, tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>,
      tensor<8xf32>, tensor<8x8xf32>
}
