// Rows of an odd length that products and kernels alone see begin aligned; kernels that share code agree.
// RUN: tessera-opt %s --rt-pad-rows="elements=16 least=8" -split-input-file | FileCheck %s

#full = affine_map<(d0, d1) -> (d0, d1)>

// The logits, and their gradient in both places of a product. A stack of matrices is one of more rows.
// CHECK-LABEL: func.func @step
// CHECK:       rt.gemm {{.*}} ldc = 16 : i64, {{.*}} -> tensor<2x4x9xf32, #rt.row_stride<16>>
// CHECK-NEXT:  rt.launch @double({{.*}}) {{.*}} : (tensor<2x4x9xf32, #rt.row_stride<16>>)
// CHECK-SAME:  -> tensor<2x4x9xf32, #rt.row_stride<16>>
// CHECK-NEXT:  rt.gemm {{.*}} lda = 16 : i64, ldb = 8 : i64, ldc = 8 : i64
// CHECK-NEXT:  rt.gemm {{.*}} lda = 16 : i64, ldb = 8 : i64, ldc = 8 : i64, {{.*}} trans_a = true
// CHECK-LABEL: func.func private @double
// CHECK-SAME:  (%[[X:.*]]: tensor<8x9xf32, #rt.row_stride<16>>) -> tensor<8x9xf32, #rt.row_stride<16>>
// CHECK:       %[[INIT:.*]] = tensor.empty() : tensor<8x9xf32, #rt.row_stride<16>>
// CHECK:       linalg.generic {{.*}} ins(%[[X]] : tensor<8x9xf32, #rt.row_stride<16>>) outs(%[[INIT]] :
func.func @step(%x: tensor<2x4x8xf32>, %w: tensor<9x8xf32>) -> (tensor<2x4x8xf32>, tensor<9x8xf32>) {
  %logits = rt.gemm %x, %w {m = 8 : i64, n = 9 : i64, k = 8 : i64, lda = 8 : i64, ldb = 8 : i64, ldc = 9 : i64,
      trans_a = false, trans_b = true} : tensor<2x4x8xf32>, tensor<9x8xf32> -> tensor<2x4x9xf32>
  %grad = rt.launch @double(%logits) {count = 8 : i64, grain = 1 : i64} : (tensor<2x4x9xf32>) -> tensor<2x4x9xf32>
  %dx = rt.gemm %grad, %w {m = 8 : i64, n = 8 : i64, k = 9 : i64, lda = 9 : i64, ldb = 8 : i64, ldc = 8 : i64,
      trans_a = false, trans_b = false} : tensor<2x4x9xf32>, tensor<9x8xf32> -> tensor<2x4x8xf32>
  %dw = rt.gemm %grad, %x {m = 9 : i64, n = 8 : i64, k = 8 : i64, lda = 9 : i64, ldb = 8 : i64, ldc = 8 : i64,
      trans_a = true, trans_b = false} : tensor<2x4x9xf32>, tensor<2x4x8xf32> -> tensor<9x8xf32>
  return %dx, %dw : tensor<2x4x8xf32>, tensor<9x8xf32>
}
func.func private @double(%x: tensor<8x9xf32>) -> tensor<8x9xf32> attributes {rt.schedule = "row"} {
  %plane = tensor.empty() : tensor<8x9xf32>
  %y = linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x9xf32>) outs(%plane : tensor<8x9xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<8x9xf32>
  return %y : tensor<8x9xf32>
}

// -----

#full = affine_map<(d0, d1) -> (d0, d1)>

// The second launch makes what the program returns: so neither result of the kernel is padded, nor what it reads.
// CHECK-LABEL: func.func @step
// CHECK-NOT:   row_stride
func.func @step(%x: tensor<8x8xf32>, %w: tensor<9x8xf32>) -> (tensor<8x8xf32>, tensor<8x9xf32>) {
  %a = rt.gemm %x, %w {m = 8 : i64, n = 9 : i64, k = 8 : i64, lda = 8 : i64, ldb = 8 : i64, ldc = 9 : i64,
      trans_a = false, trans_b = true} : tensor<8x8xf32>, tensor<9x8xf32> -> tensor<8x9xf32>
  %b = rt.launch @double(%a) {count = 8 : i64, grain = 1 : i64} : (tensor<8x9xf32>) -> tensor<8x9xf32>
  %c = rt.launch @double(%b) {count = 8 : i64, grain = 1 : i64} : (tensor<8x9xf32>) -> tensor<8x9xf32>
  %d = rt.gemm %b, %w {m = 8 : i64, n = 8 : i64, k = 9 : i64, lda = 9 : i64, ldb = 8 : i64, ldc = 8 : i64,
      trans_a = false, trans_b = false} : tensor<8x9xf32>, tensor<9x8xf32> -> tensor<8x8xf32>
  return %d, %c : tensor<8x8xf32>, tensor<8x9xf32>
}
func.func private @double(%x: tensor<8x9xf32>) -> tensor<8x9xf32> attributes {rt.schedule = "row"} {
  %plane = tensor.empty() : tensor<8x9xf32>
  %y = linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x9xf32>) outs(%plane : tensor<8x9xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<8x9xf32>
  return %y : tensor<8x9xf32>
}

// -----

// Rows that are short, even, or cut otherwise by the product; what is reduced, kept or a gradient by name.
// CHECK-LABEL: func.func @step
// CHECK-NOT:   row_stride
func.func @step(%x: tensor<8x8xf32>, %short: tensor<7x8xf32>, %even: tensor<16x8xf32>, %w: tensor<9x8xf32>) {
  %a = rt.gemm %x, %short {m = 8 : i64, n = 7 : i64, k = 8 : i64, lda = 8 : i64, ldb = 8 : i64, ldc = 7 : i64,
      trans_a = false, trans_b = true} : tensor<8x8xf32>, tensor<7x8xf32> -> tensor<8x7xf32>
  %b = rt.gemm %x, %even {m = 8 : i64, n = 16 : i64, k = 8 : i64, lda = 8 : i64, ldb = 8 : i64, ldc = 16 : i64,
      trans_a = false, trans_b = true} : tensor<8x8xf32>, tensor<16x8xf32> -> tensor<8x16xf32>
  %c = rt.gemm %x, %w {m = 8 : i64, n = 9 : i64, k = 8 : i64, lda = 8 : i64, ldb = 8 : i64, ldc = 9 : i64,
      trans_a = false, trans_b = true} : tensor<8x8xf32>, tensor<9x8xf32> -> tensor<8x9xf32>
  %sum = rt.all_reduce %c over ["tp"] {maximum = false} : tensor<8x9xf32> -> tensor<8x9xf32>
  %d = rt.gemm %x, %w {rt.role = [{nn.role = "gradient"}], m = 8 : i64, n = 9 : i64, k = 8 : i64, lda = 8 : i64,
      ldb = 8 : i64, ldc = 9 : i64, trans_a = false, trans_b = true} : tensor<8x8xf32>, tensor<9x8xf32>
      -> tensor<8x9xf32>
  return
}

// -----

#full = affine_map<(d0, d1) -> (d0, d1)>

// Rows of the kernel are not those of the product.
// CHECK-LABEL: func.func @step
// CHECK-NOT:   row_stride
func.func @step(%x: tensor<2x3x8xf32>, %w: tensor<9x8xf32>) -> tensor<9x8xf32> {
  %a = rt.gemm %x, %w {m = 6 : i64, n = 9 : i64, k = 8 : i64, lda = 8 : i64, ldb = 8 : i64, ldc = 9 : i64,
      trans_a = false, trans_b = true} : tensor<2x3x8xf32>, tensor<9x8xf32> -> tensor<2x3x9xf32>
  %b = rt.launch @double(%a) {count = 2 : i64, grain = 1 : i64} : (tensor<2x3x9xf32>) -> tensor<2x3x9xf32>
  %c = rt.gemm %b, %x {m = 9 : i64, n = 8 : i64, k = 6 : i64, lda = 9 : i64, ldb = 8 : i64, ldc = 8 : i64,
      trans_a = true, trans_b = false} : tensor<2x3x9xf32>, tensor<2x3x8xf32> -> tensor<9x8xf32>
  return %c : tensor<9x8xf32>
}
func.func private @double(%x: tensor<2x27xf32>) -> tensor<2x27xf32> attributes {rt.schedule = "row"} {
  %plane = tensor.empty() : tensor<2x27xf32>
  %y = linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<2x27xf32>) outs(%plane : tensor<2x27xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<2x27xf32>
  return %y : tensor<2x27xf32>
}

// -----

// Nothing is known of a kernel that is elsewhere.
// CHECK-LABEL: func.func @step
// CHECK-NOT:   row_stride
func.func @step(%x: tensor<8x8xf32>, %w: tensor<9x8xf32>) -> tensor<9x8xf32> {
  %a = rt.gemm %x, %w {m = 8 : i64, n = 9 : i64, k = 8 : i64, lda = 8 : i64, ldb = 8 : i64, ldc = 9 : i64,
      trans_a = false, trans_b = true} : tensor<8x8xf32>, tensor<9x8xf32> -> tensor<8x9xf32>
  %b = rt.launch @elsewhere(%a) {count = 8 : i64, grain = 1 : i64} : (tensor<8x9xf32>) -> tensor<8x9xf32>
  %c = rt.gemm %b, %x {m = 9 : i64, n = 8 : i64, k = 8 : i64, lda = 9 : i64, ldb = 8 : i64, ldc = 8 : i64,
      trans_a = true, trans_b = false} : tensor<8x9xf32>, tensor<8x8xf32> -> tensor<9x8xf32>
  return %c : tensor<9x8xf32>
}
func.func private @elsewhere(tensor<8x9xf32>) -> tensor<8x9xf32>
