// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @accumulator_of_another_type(%a: tensor<4x16xf32>, %b: tensor<16x8xf32>, %acc: tensor<8xf32>) {
  // expected-error @+1 {{accumulates 'tensor<4x8xf32>' into 'tensor<8xf32>'; the types must be the same}}
  %c = rt.gemm %a, %b into(%acc : tensor<8xf32>)
      {m = 4 : i64, n = 8 : i64, k = 16 : i64, lda = 16 : i64, ldb = 8 : i64, ldc = 8 : i64, trans_a = false,
      trans_b = false} : tensor<4x16xf32>, tensor<16x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @size_is_missing(%a: tensor<4x16xf32>, %b: tensor<16x8xf32>) {
  // expected-error @+1 {{requires attribute 'k'}}
  %c = rt.gemm %a, %b
      {m = 4 : i64, n = 8 : i64, lda = 16 : i64, ldb = 8 : i64, ldc = 8 : i64, trans_a = false, trans_b = false}
      : tensor<4x16xf32>, tensor<16x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @a_is_smaller(%a: tensor<4x8xf32>, %b: tensor<16x8xf32>) {
  // expected-error @+1 {{has a matrix a of 4 x 16, but its type is 'tensor<4x8xf32>'}}
  %c = rt.gemm %a, %b
      {m = 4 : i64, n = 8 : i64, k = 16 : i64, lda = 16 : i64, ldb = 8 : i64, ldc = 8 : i64, trans_a = false,
      trans_b = false} : tensor<4x8xf32>, tensor<16x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @b_is_smaller(%a: tensor<4x16xf32>, %b: tensor<8x8xf32>) {
  // expected-error @+1 {{has a matrix b of 16 x 8, but its type is 'tensor<8x8xf32>'}}
  %c = rt.gemm %a, %b
      {m = 4 : i64, n = 8 : i64, k = 16 : i64, lda = 16 : i64, ldb = 8 : i64, ldc = 8 : i64, trans_a = false,
      trans_b = false} : tensor<4x16xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @result_is_larger(%a: tensor<4x16xf32>, %b: tensor<16x8xf32>) {
  // expected-error @+1 {{has a matrix c of 4 x 8, but its type is 'tensor<8x8xf32>'}}
  %c = rt.gemm %a, %b
      {m = 4 : i64, n = 8 : i64, k = 16 : i64, lda = 16 : i64, ldb = 8 : i64, ldc = 8 : i64, trans_a = false,
      trans_b = false} : tensor<4x16xf32>, tensor<16x8xf32> -> tensor<8x8xf32>
  return
}

// -----

func.func @rows_of_a_overlap(%a: tensor<4x16xf32>, %b: tensor<16x8xf32>) {
  // expected-error @+1 {{has lda = 8, but a row of a has 16 elements; it must be at least that}}
  %c = rt.gemm %a, %b
      {m = 4 : i64, n = 8 : i64, k = 16 : i64, lda = 8 : i64, ldb = 8 : i64, ldc = 8 : i64, trans_a = false,
      trans_b = false} : tensor<4x16xf32>, tensor<16x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @rows_of_a_transposed_b_overlap(%a: tensor<4x16xf32>, %b: tensor<8x16xf32>) {
  // expected-error @+1 {{has ldb = 8, but a row of b has 16 elements; it must be at least that}}
  %c = rt.gemm %a, %b
      {m = 4 : i64, n = 8 : i64, k = 16 : i64, lda = 16 : i64, ldb = 8 : i64, ldc = 8 : i64, trans_a = false,
      trans_b = true} : tensor<4x16xf32>, tensor<8x16xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @rows_of_the_result_overlap(%a: tensor<4x16xf32>, %b: tensor<16x8xf32>) {
  // expected-error @+1 {{has ldc = 4, but a row of c has 8 elements; it must be at least that}}
  %c = rt.gemm %a, %b
      {m = 4 : i64, n = 8 : i64, k = 16 : i64, lda = 16 : i64, ldb = 8 : i64, ldc = 4 : i64, trans_a = false,
      trans_b = false} : tensor<4x16xf32>, tensor<16x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @layout_says_something_else(%a: tensor<4x16xf32, #rt.row_stride<24>>, %b: tensor<16x8xf32>) {
  // expected-error @+1 {{has lda = 16, but rows of a lie 24 elements apart, as its type 'tensor<4x16xf32, #rt.row_stride<24>>' says}}
  %c = rt.gemm %a, %b
      {m = 4 : i64, n = 8 : i64, k = 16 : i64, lda = 16 : i64, ldb = 8 : i64, ldc = 8 : i64, trans_a = false,
      trans_b = false} : tensor<4x16xf32, #rt.row_stride<24>>, tensor<16x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @saves_and_multiplies(%a: tensor<4x16xf32>, %b: tensor<16x8xf32>, %x: tensor<4x8xf32>) {
  // expected-error @+1 {{does 2 things of saving, gelu_grad and summing; it can do one}}
  %c, %p = rt.gemm %a, %b gelu_grad(%x : tensor<4x8xf32>)
      {m = 4 : i64, n = 8 : i64, k = 16 : i64, lda = 16 : i64, ldb = 8 : i64, ldc = 8 : i64, trans_a = false,
      trans_b = false} : tensor<4x16xf32>, tensor<16x8xf32> -> tensor<4x8xf32> saving tensor<4x8xf32>
  return
}

// -----

func.func @sums_of_nothing(%a: tensor<4x16xf32>, %b: tensor<16x8xf32>) {
  // expected-error @+1 {{has sums, but not of what; say summing a or summing b}}
  %c, %s = rt.gemm %a, %b
      {m = 4 : i64, n = 8 : i64, k = 16 : i64, lda = 16 : i64, ldb = 8 : i64, ldc = 8 : i64, trans_a = false,
      trans_b = false} : tensor<4x16xf32>, tensor<16x8xf32> -> tensor<4x8xf32> sums tensor<8xf32>
  return
}

// -----

func.func @sums_without_result(%a: tensor<4x16xf32>, %b: tensor<16x8xf32>) {
  // expected-error @+1 {{sums an operand, but has no result for the sums}}
  %c = rt.gemm %a, %b summing b
      {m = 4 : i64, n = 8 : i64, k = 16 : i64, lda = 16 : i64, ldb = 8 : i64, ldc = 8 : i64, trans_a = false,
      trans_b = false} : tensor<4x16xf32>, tensor<16x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @gradient_with_bias(%a: tensor<4x16xf32>, %b: tensor<16x8xf32>, %x: tensor<4x8xf32>, %bias: tensor<8xf32>) {
  // expected-error @+1 {{has gelu_grad, which has no bias, no accumulator and no chunks}}
  %c = rt.gemm %a, %b bias(%bias : tensor<8xf32>) gelu_grad(%x : tensor<4x8xf32>)
      {m = 4 : i64, n = 8 : i64, k = 16 : i64, lda = 16 : i64, ldb = 8 : i64, ldc = 8 : i64, trans_a = false,
      trans_b = false} : tensor<4x16xf32>, tensor<16x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @saves_what_is_added_to(%a: tensor<4x16xf32>, %b: tensor<16x8xf32>, %acc: tensor<4x8xf32>) {
  // expected-error @+1 {{saves the product, which has no accumulator and no chunks}}
  %c, %p = rt.gemm %a, %b into(%acc : tensor<4x8xf32>)
      {m = 4 : i64, n = 8 : i64, k = 16 : i64, lda = 16 : i64, ldb = 8 : i64, ldc = 8 : i64, trans_a = false,
      trans_b = false} : tensor<4x16xf32>, tensor<16x8xf32> -> tensor<4x8xf32> saving tensor<4x8xf32>
  return
}

// -----

func.func @sums_with_bias(%a: tensor<4x16xf32>, %b: tensor<16x8xf32>, %bias: tensor<8xf32>) {
  // expected-error @+1 {{sums an operand, which has no bias and no chunks}}
  %c, %s = rt.gemm %a, %b bias(%bias : tensor<8xf32>) summing b
      {m = 4 : i64, n = 8 : i64, k = 16 : i64, lda = 16 : i64, ldb = 8 : i64, ldc = 8 : i64, trans_a = false,
      trans_b = false} : tensor<4x16xf32>, tensor<16x8xf32> -> tensor<4x8xf32> sums tensor<8xf32>
  return
}

// -----

func.func @sums_of_the_other_operand(%a: tensor<4x16xf32>, %b: tensor<16x8xf32>) {
  // expected-error @+1 {{has sums of type 'tensor<8xf32>'; it must have 4 contiguous elements of 'f32', the type of c}}
  %c, %s = rt.gemm %a, %b summing a
      {m = 4 : i64, n = 8 : i64, k = 16 : i64, lda = 16 : i64, ldb = 8 : i64, ldc = 8 : i64, trans_a = false,
      trans_b = false} : tensor<4x16xf32>, tensor<16x8xf32> -> tensor<4x8xf32> sums tensor<8xf32>
  return
}

// -----

func.func @saves_another_type(%a: tensor<4x16xbf16>, %b: tensor<16x8xbf16>) {
  // expected-error @+1 {{has saved of type 'tensor<4x8xf32>'; it must have 32 contiguous elements of 'bf16', the type of c}}
  %c, %p = rt.gemm %a, %b
      {m = 4 : i64, n = 8 : i64, k = 16 : i64, lda = 16 : i64, ldb = 8 : i64, ldc = 8 : i64, trans_a = false,
      trans_b = false} : tensor<4x16xbf16>, tensor<16x8xbf16> -> tensor<4x8xbf16> saving tensor<4x8xf32>
  return
}
