// Elementwise: a thread has one vector of 16 bytes of the widest operand; bf16 beside f32 moves 8.
// RUN: tessera-opt %s --convert-kernel-to-nvvm | FileCheck %s

#full = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: llvm.func internal @widen(
// CHECK:       %[[INSIDE:.*]] = arith.cmpi slt
// CHECK:       scf.if %[[INSIDE]]
// CHECK:         llvm.load {{.*}} {alignment = 8 : i64} : !llvm.ptr -> vector<4xi16>
// CHECK:         llvm.store {{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr
func.func private @widen(%x: tensor<6x100xbf16>) -> tensor<6x100xf32> attributes {rt.schedule = "row"} {
  %plane = tensor.empty() : tensor<6x100xf32>
  %y = linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<6x100xbf16>) outs(%plane : tensor<6x100xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %w = arith.extf %a : bf16 to f32
    linalg.yield %w : f32
  } -> tensor<6x100xf32>
  return %y : tensor<6x100xf32>
}
