// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @accumulator_of_another_type(%a: tensor<4x16xf32>, %b: tensor<16x8xf32>, %acc: tensor<8xf32>) {
  // expected-error @+1 {{accumulates 'tensor<4x8xf32>' into 'tensor<8xf32>'; the types must be the same}}
  %c = rt.gemm %a, %b into(%acc : tensor<8xf32>) {m = 4 : i64, n = 8 : i64, k = 16 : i64, lda = 16 : i64, ldb = 8 : i64, ldc = 8 : i64, trans_a = false, trans_b = false} : tensor<4x16xf32>, tensor<16x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @size_is_missing(%a: tensor<4x16xf32>, %b: tensor<16x8xf32>) {
  // expected-error @+1 {{requires attribute 'k'}}
  %c = rt.gemm %a, %b {m = 4 : i64, n = 8 : i64, lda = 16 : i64, ldb = 8 : i64, ldc = 8 : i64, trans_a = false, trans_b = false} : tensor<4x16xf32>, tensor<16x8xf32> -> tensor<4x8xf32>
  return
}
