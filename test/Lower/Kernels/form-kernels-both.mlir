// For CUDA, a reduction along columns joins a kernel of rows that has read or made what it reads.
// RUN: tessera-opt %s --rt-form-kernels=reduces-columns -split-input-file | FileCheck %s
// RUN: tessera-opt %s --rt-form-kernels -split-input-file | FileCheck %s --check-prefix=CPU --implicit-check-not='"both"'

// One reads what the rows read, through a value that only it needs; the other what they make.
// CHECK-LABEL: func.func @step
// CHECK-NEXT: %[[MADE:.*]]:4 = rt.launch @[[NAME:.*]](%{{.*}}) {count = 64 : i64
// CHECK-NEXT: return %[[MADE]]#{{[0-3]}}, %[[MADE]]#{{[0-3]}}, %[[MADE]]#{{[0-3]}}, %[[MADE]]#{{[0-3]}} :
// CHECK: func.func private @[[NAME]](
// CHECK-SAME: rt.schedule = "both"
// CPU-LABEL: func.func @step
// CPU-COUNT-3: rt.launch
// CPU-DAG: rt.schedule = "row"
// CPU-DAG: rt.schedule = "column"
func.func @step(%x: tensor<64x32xf32>, %r: tensor<64xf32>)
    -> (tensor<64x32xf32>, tensor<64xf32>, tensor<32xf32>, tensor<32xf32>) {
  %d = nn.einsum "ab->a" %x : (tensor<64x32xf32>) -> tensor<64xf32>
  %y = nn.einsum "ab,a->ab" %x, %d : (tensor<64x32xf32>, tensor<64xf32>) -> tensor<64x32xf32>
  %h = nn.einsum "ab,a->ab" %x, %r : (tensor<64x32xf32>, tensor<64xf32>) -> tensor<64x32xf32>
  %w = nn.einsum "ab,ab->b" %h, %x : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<32xf32>
  %b = nn.einsum "ab->b" %y : (tensor<64x32xf32>) -> tensor<32xf32>
  return %y, %d, %w, %b : tensor<64x32xf32>, tensor<64xf32>, tensor<32xf32>, tensor<32xf32>
}

// -----

// The product reads the rows first, so that the sum would come too late.
// CHECK-LABEL: func.func @step
// CHECK: rt.launch
// CHECK: rt.gemm
// CHECK: rt.launch @[[NAME:.*]](%{{.*}}) {count = 64 : i64
// CHECK: func.func private @[[NAME]](
// CHECK-SAME: rt.schedule = "column"
func.func @step(%x: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64xf32>) {
  %a = nn.map gelu %x : tensor<64x64xf32> -> tensor<64x64xf32>
  %y = rt.gemm %a, %a {m = 64 : i64, n = 64 : i64, k = 64 : i64, lda = 64 : i64, ldb = 64 : i64, ldc = 64 : i64,
      trans_a = false, trans_b = false} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %s = nn.einsum "ab->b" %a : (tensor<64x64xf32>) -> tensor<64xf32>
  return %y, %s : tensor<64x64xf32>, tensor<64xf32>
}

// -----

// The reader of the sum is another kernel, even where there are as many rows as columns.
// CHECK-LABEL: func.func @step
// CHECK: %[[MADE:.*]]:2 = rt.launch @[[NAME:.*]](%{{.*}})
// CHECK: rt.launch @{{.*}}(%[[MADE]]#1)
// CHECK: func.func private @[[NAME]](
// CHECK-SAME: rt.schedule = "both"
func.func @step(%x: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64xf32>) {
  %d = nn.einsum "ab->a" %x : (tensor<64x64xf32>) -> tensor<64xf32>
  %y = nn.einsum "ab,a->ab" %x, %d : (tensor<64x64xf32>, tensor<64xf32>) -> tensor<64x64xf32>
  %s = nn.einsum "ab->b" %y : (tensor<64x64xf32>) -> tensor<64xf32>
  %m = nn.map gelu %s : tensor<64xf32> -> tensor<64xf32>
  return %y, %m : tensor<64x64xf32>, tensor<64xf32>
}

// -----

// Rows that are too long for the registers of a block.
// CHECK-LABEL: func.func @step
// CHECK-COUNT-2: rt.launch
// CHECK-NOT: "both"
func.func @step(%x: tensor<8x4104xf32>) -> (tensor<8x4104xf32>, tensor<4104xf32>) {
  %d = nn.einsum "ab->a" %x : (tensor<8x4104xf32>) -> tensor<8xf32>
  %y = nn.einsum "ab,a->ab" %x, %d : (tensor<8x4104xf32>, tensor<8xf32>) -> tensor<8x4104xf32>
  %s = nn.einsum "ab->b" %y : (tensor<8x4104xf32>) -> tensor<4104xf32>
  return %y, %s : tensor<8x4104xf32>, tensor<4104xf32>
}
