// A value that a kernel of backward can compute from one value of its size is not kept for it.
// RUN: tessera-opt %s --rt-recompute-elementwise=functions -split-input-file | FileCheck %s --check-prefixes=CHECK,GPU
// RUN: tessera-opt %s --rt-recompute-elementwise -split-input-file | FileCheck %s --check-prefixes=CHECK,CPU

// exp(x - m), of a value that nobody else keeps, and of a smaller one: where exp is cheap,
// forward's is for forward alone.
// CHECK-LABEL: func.func @step
// CHECK-SAME:  %[[M:[^:]*]]: tensor<4xf32>
// GPU:         %[[X:.*]] = rt.gemm
// CPU:         %[[EXP:.*]] = nn.map exp
// CHECK:       %[[SUM:.*]] = nn.einsum "ab->a"
// CHECK:       rt.gemm
// GPU-NEXT:    %[[SHIFTED:.*]] = nn.add "ab,a->ab" %[[X]], %[[M]] {coefs = {{.*}}, nn.phase = #nn.phase<backward>}
// GPU-NEXT:    %[[EXP:.*]] = nn.map exp %[[SHIFTED]] {nn.phase = #nn.phase<backward>}
// CHECK-NEXT:  nn.einsum "ab,a->ab" %[[EXP]], %[[SUM]]
func.func @step(%in: tensor<4x8xf32>, %m: tensor<4xf32>, %w: tensor<4x4xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %x = rt.gemm %w, %in {m = 4 : i64, n = 8 : i64, k = 4 : i64, lda = 4 : i64, ldb = 8 : i64, ldc = 8 : i64,
      trans_a = false, trans_b = false} : tensor<4x4xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  %shifted = nn.add "ab,a->ab" %x, %m {coefs = array<f64: 1.0, -1.0>} : (tensor<4x8xf32>, tensor<4xf32>)
      -> tensor<4x8xf32>
  %exp = nn.map exp %shifted : tensor<4x8xf32> -> tensor<4x8xf32>
  %sum = nn.einsum "ab->a" %exp : (tensor<4x8xf32>) -> tensor<4xf32>
  %y = rt.gemm %w, %x {m = 4 : i64, n = 8 : i64, k = 4 : i64, lda = 4 : i64, ldb = 8 : i64, ldc = 8 : i64,
      trans_a = false, trans_b = false} : tensor<4x4xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  %grad = nn.einsum "ab,a->ab" %exp, %sum {nn.phase = #nn.phase<backward>} : (tensor<4x8xf32>, tensor<4xf32>)
      -> tensor<4x8xf32>
  return %y, %grad : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// Once for all readers.
// CHECK-LABEL: func.func @step
// CHECK-COUNT-2: nn.map silu
// CHECK-NOT:     nn.map silu
func.func @step(%x: tensor<4x8xbf16>, %u: tensor<4x8xbf16>) -> (tensor<4x8xbf16>, tensor<4x8xbf16>, tensor<4x8xbf16>) {
  %silu = nn.map silu %x : tensor<4x8xbf16> -> tensor<4x8xbf16>
  %y = nn.einsum "ab,ab->ab" %silu, %u : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %a = nn.einsum "ab,ab->ab" %silu, %y {nn.phase = #nn.phase<backward>} : (tensor<4x8xbf16>, tensor<4x8xbf16>)
      -> tensor<4x8xbf16>
  %b = nn.einsum "ab,ab->ab" %silu, %a {nn.phase = #nn.phase<backward>} : (tensor<4x8xbf16>, tensor<4x8xbf16>)
      -> tensor<4x8xbf16>
  return %y, %a, %b : tensor<4x8xbf16>, tensor<4x8xbf16>, tensor<4x8xbf16>
}

// -----

// Kept: a function of two values of its size; one that a matrix product reads anyway; one of a larger value; one that
// verify compares.
// CHECK-LABEL: func.func @step
// CHECK:       nn.phase = #nn.phase<backward>
// CHECK-COUNT-3: nn.einsum {{.*}}nn.phase = #nn.phase<backward>
// CHECK-NEXT:  return
func.func @step(%x: tensor<4x4xf32>, %u: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>,
    tensor<4x4xf32>, tensor<4x4xf32>) {
  %two = nn.add "ab,ab->ab" %x, %u : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %read = nn.map gelu %x : tensor<4x4xf32> -> tensor<4x4xf32>
  %narrow = nn.cast %x to bf16 : tensor<4x4xf32> -> tensor<4x4xbf16>
  %seen = nn.map silu %x {rt.keep = [{}]} : tensor<4x4xf32> -> tensor<4x4xf32>
  %y = rt.gemm %read, %x {m = 4 : i64, n = 4 : i64, k = 4 : i64, lda = 4 : i64, ldb = 4 : i64, ldc = 4 : i64,
      trans_a = false, trans_b = false} : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %a = nn.einsum "ab,ab->ab" %two, %y {nn.phase = #nn.phase<backward>} : (tensor<4x4xf32>, tensor<4x4xf32>)
      -> tensor<4x4xf32>
  %b = nn.einsum "ab,ab->ab" %read, %y {nn.phase = #nn.phase<backward>} : (tensor<4x4xf32>, tensor<4x4xf32>)
      -> tensor<4x4xf32>
  %c = nn.einsum "ab,ab->ab" %narrow, %narrow {element_type = f32, nn.phase = #nn.phase<backward>}
      : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xf32>
  %d = nn.einsum "ab,ab->ab" %seen, %y {nn.phase = #nn.phase<backward>} : (tensor<4x4xf32>, tensor<4x4xf32>)
      -> tensor<4x4xf32>
  return %y, %a, %b, %c, %d : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Nothing is left in forward of values that backward alone reads.
// CHECK-LABEL: func.func @step
// CHECK-SAME:  %[[X:[^:]*]]: tensor<4x8xbf16>
// CHECK-NEXT:  %[[WIDE:.*]] = nn.cast %[[X]] to f32 {nn.phase = #nn.phase<backward>}
// CHECK-NEXT:  %[[HALF:.*]] = nn.add "ab->ab" %[[WIDE]] {{.*}}nn.phase = #nn.phase<backward>
// CHECK-NEXT:  nn.einsum "ab,ab->ab" %[[HALF]], %[[HALF]]
func.func @step(%x: tensor<4x8xbf16>) -> tensor<4x8xf32> {
  %wide = nn.cast %x to f32 : tensor<4x8xbf16> -> tensor<4x8xf32>
  %half = nn.add "ab->ab" %wide {coefs = array<f64: 0.5>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = nn.einsum "ab,ab->ab" %half, %half {nn.phase = #nn.phase<backward>} : (tensor<4x8xf32>, tensor<4x8xf32>)
      -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// A costly function of a narrower value: to read that saves half the bytes, so it is computed again on a CPU, too.
// CHECK-LABEL: func.func @step
// CHECK-SAME:  %[[M:[^:]*]]: tensor<4xf32>
// CHECK:       %[[X:.*]] = rt.gemm {{.*}} -> tensor<4x8xbf16>
// CHECK:       %[[SUM:.*]] = nn.einsum "ab->a"
// CHECK:       %[[WIDE:.*]] = nn.cast %[[X]] to f32 {nn.phase = #nn.phase<backward>}
// CHECK-NEXT:  %[[SHIFTED:.*]] = nn.add "ab,a->ab" %[[WIDE]], %[[M]] {coefs = {{.*}}, nn.phase = #nn.phase<backward>}
// CHECK-NEXT:  %[[EXP:.*]] = nn.map exp %[[SHIFTED]] {nn.phase = #nn.phase<backward>}
// CHECK-NEXT:  nn.einsum "ab,a->ab" %[[EXP]], %[[SUM]]
func.func @step(%in: tensor<4x8xbf16>, %m: tensor<4xf32>, %w: tensor<4x4xbf16>) -> tensor<4x8xf32> {
  %x = rt.gemm %w, %in {m = 4 : i64, n = 8 : i64, k = 4 : i64, lda = 4 : i64, ldb = 8 : i64, ldc = 8 : i64,
      trans_a = false, trans_b = false} : tensor<4x4xbf16>, tensor<4x8xbf16> -> tensor<4x8xbf16>
  %wide = nn.cast %x to f32 : tensor<4x8xbf16> -> tensor<4x8xf32>
  %shifted = nn.add "ab,a->ab" %wide, %m {coefs = array<f64: 1.0, -1.0>} : (tensor<4x8xf32>, tensor<4xf32>)
      -> tensor<4x8xf32>
  %exp = nn.map exp %shifted : tensor<4x8xf32> -> tensor<4x8xf32>
  %sum = nn.einsum "ab->a" %exp : (tensor<4x8xf32>) -> tensor<4xf32>
  %grad = nn.einsum "ab,a->ab" %exp, %sum {nn.phase = #nn.phase<backward>} : (tensor<4x8xf32>, tensor<4xf32>)
      -> tensor<4x8xf32>
  return %grad : tensor<4x8xf32>
}
