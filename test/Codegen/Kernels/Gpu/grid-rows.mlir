// A row of 256 columns is walked by a warp: 8 rows share a block, a lane moves 16 bytes, the sum is a butterfly of
// shuffles and no barrier of the block is needed. A row of 50257 is walked by a whole block, whose warps meet in shared
// memory once.
// RUN: tessera-opt %s --convert-kernel-to-nvvm | FileCheck %s

#full = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: llvm.func internal @warp_per_row(
// CHECK-SAME:    !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr)
// CHECK-SAME:    nvvm.kernel, nvvm.maxntid = array<i32: 256>
// CHECK-NOT:   nvvm.barrier0
// CHECK:       scf.for {{.*}} -> (vector<4xf32>)
// CHECK:         llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr -> vector<4xf32>
// CHECK-COUNT-5: nvvm.shfl.sync bfly
// CHECK:       llvm.store
// The grid: 2 blocks of 256 threads, no shared memory, 2 buffers, no scalars.
// CHECK-LABEL: llvm.mlir.global internal constant @warp_per_row_descriptor()
// CHECK:   llvm.mlir.addressof @warp_per_row_name
// CHECK:   llvm.mlir.constant(2 : i64)
// CHECK:   llvm.mlir.constant(256 : i64)
// CHECK:   llvm.mlir.constant(0 : i64)
// CHECK:   llvm.mlir.constant(2 : i64)
// CHECK:   llvm.mlir.constant(0 : i64)
func.func private @warp_per_row(%x: tensor<16x256xf32>) -> tensor<16xf32> attributes {rt.schedule = "row"} {
  %zero = arith.constant 0.0 : f32
  %rows = tensor.empty() : tensor<16xf32>
  %init = linalg.fill ins(%zero : f32) outs(%rows : tensor<16xf32>) -> tensor<16xf32>
  %sum = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<16x256xf32>) outs(%init : tensor<16xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  } -> tensor<16xf32>
  return %sum : tensor<16xf32>
}

// CHECK-LABEL: llvm.func internal @block_per_row(
// CHECK:       llvm.load {{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<1xf32>
// CHECK-COUNT-5: nvvm.shfl.sync bfly
// CHECK:       nvvm.barrier0
// CHECK-COUNT-5: nvvm.shfl.sync bfly
// CHECK-LABEL: llvm.mlir.global internal constant @block_per_row_descriptor()
// CHECK:   llvm.mlir.constant(16 : i64)
// CHECK:   llvm.mlir.constant(1024 : i64)
// CHECK:   llvm.mlir.constant(128 : i64)
func.func private @block_per_row(%x: tensor<16x50257xf32>) -> tensor<16xf32> attributes {rt.schedule = "row"} {
  %zero = arith.constant 0.0 : f32
  %rows = tensor.empty() : tensor<16xf32>
  %init = linalg.fill ins(%zero : f32) outs(%rows : tensor<16xf32>) -> tensor<16xf32>
  %sum = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<16x50257xf32>) outs(%init : tensor<16xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  } -> tensor<16xf32>
  return %sum : tensor<16xf32>
}

// Rows of 50257 that begin every 50304: 16 bytes at once; what the last vector reads of the padding is not added.
// CHECK-LABEL: llvm.func internal @padded_rows(
// CHECK:       %[[STRIDE:.*]] = arith.constant 50304 : i64
// CHECK:       scf.for {{.*}} -> (vector<4xf32>)
// CHECK:         %[[EXISTS:.*]] = arith.cmpi slt, {{.*}} : vector<4xi32>
// CHECK:         llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr -> vector<4xf32>
// CHECK:         %[[SUM:.*]] = arith.addf {{.*}} : vector<4xf32>
// CHECK:         arith.select %[[EXISTS]], %[[SUM]], %{{.*}} : vector<4xi1>, vector<4xf32>
func.func private @padded_rows(%x: tensor<16x50257xf32, #rt.row_stride<50304>>)
    -> tensor<16xf32> attributes {rt.schedule = "row"} {
  %zero = arith.constant 0.0 : f32
  %rows = tensor.empty() : tensor<16xf32>
  %init = linalg.fill ins(%zero : f32) outs(%rows : tensor<16xf32>) -> tensor<16xf32>
  %sum = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<16x50257xf32, #rt.row_stride<50304>>) outs(%init : tensor<16xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  } -> tensor<16xf32>
  return %sum : tensor<16xf32>
}
