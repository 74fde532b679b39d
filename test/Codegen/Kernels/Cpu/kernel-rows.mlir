// A row kernel: one loop over rows; within it a phase that carries the sum in wide vectors, narrows it, takes single
// vectors and a masked rest; then a phase that stores.
// RUN: tessera-opt %s --convert-kernel-to-llvm | FileCheck %s

// CHECK: llvm.func internal @center(%[[BUFFERS:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr, %[[BEGIN:.*]]: i64,
// CHECK-SAME: %[[END:.*]]: i64)
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[END]]
// CHECK:   scf.for {{.*}} -> (vector<64xf32>)
// CHECK:   vector.shuffle {{.*}} : vector<64xf32>
// CHECK:   scf.for {{.*}} -> (vector<16xf32>)
// CHECK:   llvm.intr.masked.load
// CHECK:   arith.select {{.*}} : vector<16xi1>, vector<16xf32>
// CHECK:   vector.extract {{.*}} : f32 from vector<1xf32>
// CHECK:   scf.for
// CHECK:     llvm.store {{.*}} : vector<16xf32>
// CHECK:   llvm.intr.masked.store
// CHECK: llvm.return
#full = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func private @center(%x: tensor<8x100xf32>) -> tensor<8x100xf32> attributes {rt.schedule = "row"} {
  %zero = arith.constant 0.0 : f32
  %rows = tensor.empty() : tensor<8xf32>
  %plane = tensor.empty() : tensor<8x100xf32>
  %init = linalg.fill ins(%zero : f32) outs(%rows : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x100xf32>) outs(%init : tensor<8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<8x100xf32>, tensor<8xf32>) outs(%plane : tensor<8x100xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    linalg.yield %d : f32
  } -> tensor<8x100xf32>
  return %y : tensor<8x100xf32>
}

// Other functions stay as they are.
// CHECK: func.func @host
// CHECK-NEXT: return
func.func @host() {
  return
}
