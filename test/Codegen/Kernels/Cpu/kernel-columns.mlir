// A column kernel: blocks of columns of [begin, end), each walking all rows in order with its sums in registers.
// RUN: tessera-opt %s --convert-kernel-to-llvm=vector-bits=256 | FileCheck %s

// CHECK: llvm.func internal @column_sum(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64)
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to
// CHECK:   scf.for {{.*}} -> (vector<64xf32>)
// CHECK: scf.for
// CHECK:   scf.for {{.*}} -> (vector<8xf32>)
// CHECK: scf.if
// CHECK:   scf.for {{.*}} -> (vector<8xf32>)
// CHECK:     llvm.intr.masked.load
// CHECK:   llvm.intr.masked.store
#full = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>
func.func private @column_sum(%x: tensor<8x100xf32>, %old: tensor<100xf32>) -> tensor<100xf32>
    attributes {rt.schedule = "column"} {
  %sum = linalg.generic {indexing_maps = [#full, #col], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<8x100xf32>) outs(%old : tensor<100xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  } -> tensor<100xf32>
  return %sum : tensor<100xf32>
}
