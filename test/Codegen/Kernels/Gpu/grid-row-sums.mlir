// Rows, and sums along columns over all of them: blocks take rows in turn and leave their sums in the workspace.
// RUN: tessera-opt %s --convert-kernel-to-nvvm | FileCheck %s

#full = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>

// 8 blocks of 192 threads for each of 132 multiprocessors: 1056 lines of 768 sums in f32.
// CHECK: module attributes {rt.workspace_bytes = 3244032 : i64}

// A thread has 4 columns of every row, whose sums it carries from row to row.
// CHECK-LABEL: llvm.func internal @scale_by_sum(
// CHECK-SAME:    nvvm.minctasm = 8
// CHECK-DAG:   %[[ROWS:.*]] = arith.constant 32768 : i64
// CHECK-DAG:   %[[TURN:.*]] = arith.constant 1056 : i64
// CHECK:       scf.for {{.*}} to %[[ROWS]] step %[[TURN]] iter_args({{.*}}) -> (vector<4xf32>)
// CHECK:         llvm.load {{.*}} : !llvm.ptr -> vector<4xf32>
// CHECK:         nvvm.barrier0
// CHECK:         llvm.store {{.*}} : vector<4xf32>
// CHECK:         arith.addf {{.*}} : vector<4xf32>
// Another thread may still read its part of the row.
// CHECK:         nvvm.barrier0
// CHECK:         scf.yield %{{.*}} : vector<4xf32>
// CHECK:       llvm.getelementptr inbounds %arg4
// CHECK:       llvm.store {{.*}} : vector<4xf32>
// CHECK-LABEL: llvm.mlir.global internal constant @scale_by_sum_descriptor()
// CHECK:       llvm.mlir.constant(1056 : i64)
// CHECK:       llvm.mlir.constant(192 : i64)
// CHECK:       llvm.mlir.addressof @scale_by_sum_total_descriptor

// CHECK-LABEL: llvm.func internal @scale_by_sum_total(
// CHECK:       arith.constant 1056 : i64
// CHECK-NOT:   llvm.getelementptr inbounds %arg0
// CHECK:       llvm.getelementptr inbounds %arg4
// CHECK:       llvm.getelementptr inbounds %arg2
// CHECK-LABEL: llvm.mlir.global internal constant @scale_by_sum_total_descriptor()
// CHECK:       llvm.mlir.zero : !llvm.ptr
func.func private @scale_by_sum(%x: tensor<32768x768xf32>)
    -> (tensor<32768x768xf32>, tensor<768xf32>) attributes {rt.schedule = "both"} {
  %zero = arith.constant 0.0 : f32
  %plane = tensor.empty() : tensor<32768x768xf32>
  %rows = tensor.empty() : tensor<32768xf32>
  %cols = tensor.empty() : tensor<768xf32>
  %row_init = linalg.fill ins(%zero : f32) outs(%rows : tensor<32768xf32>) -> tensor<32768xf32>
  %col_init = linalg.fill ins(%zero : f32) outs(%cols : tensor<768xf32>) -> tensor<768xf32>
  %total = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<32768x768xf32>) outs(%row_init : tensor<32768xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  } -> tensor<32768xf32>
  %y = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel"]}
      ins(%x, %total : tensor<32768x768xf32>, tensor<32768xf32>) outs(%plane : tensor<32768x768xf32>) {
  ^bb0(%a: f32, %t: f32, %o: f32):
    %s = arith.mulf %a, %t : f32
    linalg.yield %s : f32
  } -> tensor<32768x768xf32>
  %sum = linalg.generic {indexing_maps = [#full, #col], iterator_types = ["reduction", "parallel"]}
      ins(%y : tensor<32768x768xf32>) outs(%col_init : tensor<768xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  } -> tensor<768xf32>
  return %y, %sum : tensor<32768x768xf32>, tensor<768xf32>
}
