// Sums over rows: a block has 32 columns, 16 warps share the rows, four at once, and every thread
// adds the warps' sums in order.
// RUN: tessera-opt %s --convert-kernel-to-nvvm | FileCheck %s

#full = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>

// CHECK-LABEL: llvm.func internal @bias_gradient(
// CHECK:       %[[STEP:.*]] = arith.constant 64 : i64
// CHECK:       scf.for {{.*}} step %[[STEP]]
// CHECK:       llvm.mlir.addressof @tsr_shared : !llvm.ptr<3>
// CHECK:       nvvm.barrier0
// CHECK-COUNT-15: arith.addf
// CHECK:       nvvm.barrier0
// CHECK:       scf.if
// CHECK:         llvm.store
// 3 blocks of 512 threads for 96 columns; 16 x 32 sums of 4 bytes in shared memory.
// CHECK-LABEL: llvm.mlir.global internal constant @bias_gradient_descriptor()
// CHECK:   llvm.mlir.constant(3 : i64)
// CHECK:   llvm.mlir.constant(512 : i64)
// CHECK:   llvm.mlir.constant(2048 : i64)
func.func private @bias_gradient(%x: tensor<1000x96xf32>) -> tensor<96xf32> attributes {rt.schedule = "column"} {
  %zero = arith.constant 0.0 : f32
  %columns = tensor.empty() : tensor<96xf32>
  %init = linalg.fill ins(%zero : f32) outs(%columns : tensor<96xf32>) -> tensor<96xf32>
  %sum = linalg.generic {indexing_maps = [#full, #col], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<1000x96xf32>) outs(%init : tensor<96xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  } -> tensor<96xf32>
  return %sum : tensor<96xf32>
}
