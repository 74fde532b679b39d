// Elements at the same place of equal shapes: one loop over all elements of the rows, whatever their length.
// RUN: tessera-opt %s --convert-kernel-to-llvm --canonicalize | FileCheck %s

// CHECK: llvm.func internal @add(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64)
// CHECK-DAG: %[[SEVEN:.*]] = arith.constant 7 : i64
// CHECK: %[[LO:.*]] = arith.muli %[[BEGIN]], %[[SEVEN]]
// CHECK: scf.for %{{.*}} = %[[LO]] to
// CHECK-NOT: scf.for
// CHECK: scf.if
#full = affine_map<(d0, d1) -> (d0, d1)>
func.func private @add(%x: tensor<64x7xf32>, %y: tensor<64x7xf32>)
    -> tensor<64x7xf32> attributes {rt.schedule = "row"} {
  %empty = tensor.empty() : tensor<64x7xf32>
  %z = linalg.generic {indexing_maps = [#full, #full, #full], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<64x7xf32>, tensor<64x7xf32>) outs(%empty : tensor<64x7xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<64x7xf32>
  return %z : tensor<64x7xf32>
}
