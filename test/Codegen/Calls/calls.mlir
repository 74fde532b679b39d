// RUN: tessera-opt --split-input-file --convert-rt-to-llvm %s | FileCheck %s

// A call is words: entry 2 without a kernel; 6 buffers, 19 arguments; the first of them, none computed; offsets 0, 256
// and 768 of the arena, no bias, nothing beside the product. Arguments are in the table of all.
// CHECK: llvm.mlir.global internal constant @tsr_calls_0_words(dense<[-4294967294, 81604378630, 0, 0, 256, 768, -1, -1, -1]>
// CHECK: llvm.mlir.global internal constant @tsr_calls_0() {{.*}} !llvm.struct<(i64, i64, ptr, ptr, ptr)> {
// CHECK-DAG: llvm.mlir.addressof @tsr_calls_0_words
// CHECK-DAG: llvm.mlir.addressof @tsr_arguments
// CHECK-DAG: llvm.mlir.zero : !llvm.ptr
// CHECK: llvm.mlir.global internal constant @tsr_arguments(dense<[4, 8, 16, 16, 8, 8, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]>
// CHECK-LABEL: llvm.func @tsr_program_step(%{{.*}}: !llvm.ptr) -> i32
// CHECK: %[[LIST:.*]] = llvm.mlir.addressof @tsr_calls_0
// CHECK: %[[STATUS:.*]] = llvm.call %{{.*}}(%{{.*}}, %[[LIST]], %{{.*}}) : !llvm.ptr, (!llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
// CHECK: llvm.icmp "eq" %[[STATUS]]
// CHECK: llvm.cond_br %{{.*}}, ^{{.*}}, ^{{.*}}(%[[STATUS]] : i32)
module {
  func.func @step(%a: tensor<4x16xf32> {nn.param = "a", rt.offset = 0 : i64}, %b: tensor<16x8xf32> {nn.param = "b", rt.offset = 256 : i64}) {
    %c = rt.gemm %a, %b {m = 4 : i64, n = 8 : i64, k = 16 : i64, lda = 16 : i64, ldb = 8 : i64, ldc = 8 : i64, trans_a = false, trans_b = false, rt.offsets = array<i64: 768>} : tensor<4x16xf32>, tensor<16x8xf32> -> tensor<4x8xf32>
    return
  }
}

// -----

// These are beside products: the saved sum (epilogue 1), the factor (2), sums of b (2).
// CHECK: @tsr_calls_0_words(dense<[{{.*}}, 0, 256, 768, -1, 1024, -1, {{.*}}, 0, 256, 1280, -1, 1024, -1, {{.*}}, 0, 256, 1536, -1, -1, 1792]>
// CHECK: @tsr_arguments(dense<[{{.*}}, 1, 8, 0, 0, {{.*}}, 2, 8, 0, 0, {{.*}}, 0, 0, 2, 0]>
// CHECK-LABEL: llvm.func @tsr_program_step
module {
  func.func @step(%a: tensor<4x16xf32> {nn.param = "a", rt.offset = 0 : i64}, %b: tensor<16x8xf32> {nn.param = "b", rt.offset = 256 : i64}) {
    %y, %p = rt.gemm %a, %b {m = 4 : i64, n = 8 : i64, k = 16 : i64, lda = 16 : i64, ldb = 8 : i64, ldc = 8 : i64, trans_a = false, trans_b = false, rt.offsets = array<i64: 768, 1024>} : tensor<4x16xf32>, tensor<16x8xf32> -> tensor<4x8xf32> saving tensor<4x8xf32>
    %d = rt.gemm %a, %b gelu_grad(%p : tensor<4x8xf32>) {m = 4 : i64, n = 8 : i64, k = 16 : i64, lda = 16 : i64, ldb = 8 : i64, ldc = 8 : i64, trans_a = false, trans_b = false, rt.offsets = array<i64: 1280>} : tensor<4x16xf32>, tensor<16x8xf32> -> tensor<4x8xf32>
    %w, %s = rt.gemm %a, %b summing b {m = 4 : i64, n = 8 : i64, k = 16 : i64, lda = 16 : i64, ldb = 8 : i64, ldc = 8 : i64, trans_a = false, trans_b = false, rt.offsets = array<i64: 1536, 1792>} : tensor<4x16xf32>, tensor<16x8xf32> -> tensor<4x8xf32> sums tensor<8xf32>
    return
  }
}

// -----

// A launch names its kernel by number; its third argument says that no launch follows in one with it, its
// fourth is scalar 1, which the program computes.
// CHECK: @tsr_calls_0_words(dense<[1, 17179869185, 4294967296, 0, 4294967299]>
// CHECK: @tsr_arguments(dense<[8, 1, 0, 0]>
// CHECK: @tsr_kernels
// CHECK: llvm.mlir.addressof @kernel
// CHECK-LABEL: llvm.func @tsr_program_step
// CHECK: %[[START:.*]] = arith.muli
// CHECK: llvm.store %[[START]]
// CHECK: llvm.mlir.addressof @tsr_calls_0
module attributes {dist.mesh = #dist.mesh<dp = 1, tp = 2>} {
  llvm.func @kernel(!llvm.ptr, !llvm.ptr, i64, i64)
  func.func @step() {
    %t = rt.coord "tp"
    %c = arith.constant 32 : i64
    %s = arith.muli %t, %c : i64
    %x = rt.launch @kernel() scalars(%s) {count = 8 : i64, grain = 1 : i64, rt.offsets = array<i64: 0>} : () -> tensor<8xf32>
    return
  }
}

// -----

// A loop counts; scalar 1, 32 times the counter, is added to the view's offset: 2 to the 48 and 0.
// CHECK: @tsr_calls_0_words(dense<[-4294967289, {{[0-9]+}}, 0, 281474976710656, 128]>
// CHECK-LABEL: llvm.func @tsr_program_step
// CHECK: %[[COUNT:.*]] = llvm.mlir.constant(3 : i64)
// CHECK: llvm.br ^[[HEAD:.*]](%{{.*}} : i64)
// CHECK: ^[[HEAD]](%[[COUNTER:.*]]: i64):
// CHECK: llvm.icmp "slt" %[[COUNTER]], %[[COUNT]]
// CHECK: %[[STRIDE:.*]] = llvm.mlir.constant(32 : i64)
// CHECK: %[[BYTES:.*]] = llvm.mul %[[COUNTER]], %[[STRIDE]]
// CHECK: llvm.store %[[BYTES]]
// CHECK: llvm.mlir.addressof @tsr_calls_0
module {
  func.func @step(%x: tensor<3x8xf32> {nn.data = "ids", rt.offset = 0 : i64}) {
    rt.loop 3 init() : () -> () {
    ^bb0(%i: i64):
      %v = rt.view %x[%i] {offset = 0 : i64, stride = 8 : i64, rt.offsets = array<i64: 0>} : tensor<3x8xf32> -> tensor<8xf32>
      %c = rt.copy %v {rt.offsets = array<i64: 128>} : tensor<8xf32> -> tensor<8xf32>
      rt.yield
    }
    return
  }
}

// -----

// Rows with gaps: 8 rows of 32 bytes, 96 bytes apart, to contiguous ones.
// CHECK: @tsr_arguments(dense<[8, 32, 96, 32]>
module {
  func.func @step(%x: tensor<2x4x3x1x8xf32> {nn.data = "ids", rt.offset = 0 : i64}) {
    %v = rt.view %x {offset = 8 : i64, parts = 3 : i64, rt.offsets = array<i64: 32>} : tensor<2x4x3x1x8xf32> -> tensor<2x4x1x8xf32>
    %c = rt.copy %v {rt.offsets = array<i64: 1024>} : tensor<2x4x1x8xf32> -> tensor<2x4x1x8xf32>
    return
  }
}

// -----

// Axes are bits in the order of the mesh; equal argument lists are in the table once.
// CHECK: @tsr_arguments(dense<[32, 2, 8, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]>
module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @step() {
    %a = rt.zero {rt.offsets = array<i64: 0>} : tensor<8xf32>
    %b = rt.all_reduce %a over ["tp"] {maximum = false, rt.offsets = array<i64: 0>} : tensor<8xf32> -> tensor<8xf32>
    %c = rt.all_reduce %b over ["tp"] {maximum = false, rt.offsets = array<i64: 0>} : tensor<8xf32> -> tensor<8xf32>
    return
  }
}

// -----

// Heads [2, 8] for queries [2, 4, 4]: the gathered dimension lies outside of the scattered one, and back.
// CHECK: @tsr_arguments(dense<[1, 6, 0, 0, 2, 0, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 6, 0, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]>
module attributes {dist.mesh = #dist.mesh<cp = 2>} {
  func.func @step(%x: tensor<2x4x4x3xf32> {rt.offset = 0 : i64}) {
    %y = rt.all_to_all %x from 1 to 2 over ["cp"] {rt.offsets = array<i64: 1024>} : tensor<2x4x4x3xf32> -> tensor<2x8x2x3xf32>
    %z = rt.all_to_all %y from 2 to 1 over ["cp"] {rt.offsets = array<i64: 2048>} : tensor<2x8x2x3xf32> -> tensor<2x4x4x3xf32>
    return
  }
}

// -----

// 2 x 2 x 12 elements of a slice to chunks, and back.
// CHECK: @tsr_arguments(dense<[1, 12, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 12, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]>
module attributes {dist.mesh = #dist.mesh<cp = 2>} {
  func.func @step(%x: tensor<2x4x6xf32> {rt.offset = 0 : i64}) {
    %y:2 = rt.zigzag %x along 1 over ["cp"] {rt.offsets = array<i64: 1024, 2048>} : tensor<2x4x6xf32> -> tensor<2x2x6xf32>, tensor<2x2x6xf32>
    %z = rt.zigzag %y#0, %y#1 along 1 over ["cp"] {rt.offsets = array<i64: 4096>} : tensor<2x2x6xf32>, tensor<2x2x6xf32> -> tensor<2x4x6xf32>
    return
  }
}
