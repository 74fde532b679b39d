// Sums over many rows: a first kernel adds slices of them into the workspace; the second, its `next`, adds those sums.
// RUN: tessera-opt %s --convert-kernel-to-nvvm | FileCheck %s

#full = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>

// The most that a kernel asks for: 86 slices of 768 sums in f32.
// CHECK: module attributes {rt.workspace_bytes = 264192 : i64}

// 4 neighbouring columns for a thread, 4 rows at once, 8 warps: all loads, then the additions.
// CHECK-LABEL: llvm.func internal @bias_gradient(
// CHECK-SAME:    nvvm.minctasm = 4
// CHECK:       arith.constant 384 : i64
// CHECK:       %[[STEP:.*]] = arith.constant 32 : i64
// CHECK:       scf.for {{.*}} step %[[STEP]]
// CHECK-COUNT-4: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr -> vector<4xf32>
// CHECK-NOT:     llvm.load
// CHECK-COUNT-4: arith.addf
// CHECK:         scf.yield
// CHECK:       nvvm.barrier0
// CHECK-COUNT-7: arith.addf
// CHECK:       llvm.getelementptr inbounds %arg4
// CHECK:       llvm.store {{.*}} {alignment = 16 : i64} : vector<4xf32>
// CHECK-NOT:   %arg2
// 6 tiles of 128 columns times 86 slices of 384 rows.
// CHECK-LABEL: llvm.mlir.global internal constant @bias_gradient_descriptor()
// CHECK:       llvm.mlir.constant(516 : i64)
// CHECK:       llvm.mlir.constant(256 : i64)
// CHECK:       llvm.mlir.addressof @bias_gradient_total_descriptor

// The init operand is added once, here.
// CHECK-LABEL: llvm.func internal @bias_gradient_total(
// CHECK:       arith.constant 86 : i64
// CHECK-NOT:   llvm.getelementptr inbounds %arg0
// CHECK:       llvm.getelementptr inbounds %arg1
// CHECK:       nvvm.barrier0
// CHECK:       llvm.getelementptr inbounds %arg2
// CHECK-LABEL: llvm.mlir.global internal constant @bias_gradient_total_descriptor()
// CHECK:       llvm.mlir.constant(24 : i64)
// CHECK:       llvm.mlir.zero : !llvm.ptr
func.func private @bias_gradient(%x: tensor<32768x768xf32>, %old: tensor<768xf32>)
    -> tensor<768xf32> attributes {rt.schedule = "column"} {
  %sum = linalg.generic {indexing_maps = [#full, #col], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<32768x768xf32>) outs(%old : tensor<768xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  } -> tensor<768xf32>
  return %sum : tensor<768xf32>
}

// The widest operand takes 16 bytes, and a plane that the loop stores is stored by the first kernel.
// CHECK-LABEL: llvm.func internal @scaled_sum(
// CHECK:       scf.for
// CHECK-COUNT-4: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr -> vector<8xi16>
// CHECK-COUNT-4: llvm.store {{.*}} {alignment = 16 : i64} : vector<8xi16>
// CHECK-LABEL: llvm.func internal @scaled_sum_total(
// CHECK-NOT:   vector<8xi16>
func.func private @scaled_sum(%x: tensor<4096x256xbf16>, %s: tensor<4096xf32>)
    -> (tensor<4096x256xbf16>, tensor<256xf32>) attributes {rt.schedule = "column"} {
  %zero = arith.constant 0.0 : f32
  %plane = tensor.empty() : tensor<4096x256xbf16>
  %columns = tensor.empty() : tensor<256xf32>
  %init = linalg.fill ins(%zero : f32) outs(%columns : tensor<256xf32>) -> tensor<256xf32>
  %y = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<4096x256xbf16>, tensor<4096xf32>) outs(%plane : tensor<4096x256xbf16>) {
  ^bb0(%a: bf16, %f: f32, %o: bf16):
    %w = arith.extf %a : bf16 to f32
    %p = arith.mulf %w, %f : f32
    %r = arith.truncf %p : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<4096x256xbf16>
  %sum = linalg.generic {indexing_maps = [#full, #col], iterator_types = ["reduction", "parallel"]}
      ins(%y : tensor<4096x256xbf16>) outs(%init : tensor<256xf32>) {
  ^bb0(%a: bf16, %acc: f32):
    %w = arith.extf %a : bf16 to f32
    %t = arith.addf %acc, %w : f32
    linalg.yield %t : f32
  } -> tensor<256xf32>
  return %y, %sum : tensor<4096x256xbf16>, tensor<256xf32>
}

// A second loop over the rows needs the sums of the first: one kernel.
// CHECK-LABEL: llvm.func internal @two_loops(
// CHECK-NOT:   two_loops_total
func.func private @two_loops(%x: tensor<4096x256xf32>) -> tensor<4096x256xf32> attributes {rt.schedule = "column"} {
  %zero = arith.constant 0.0 : f32
  %plane = tensor.empty() : tensor<4096x256xf32>
  %columns = tensor.empty() : tensor<256xf32>
  %init = linalg.fill ins(%zero : f32) outs(%columns : tensor<256xf32>) -> tensor<256xf32>
  %sum = linalg.generic {indexing_maps = [#full, #col], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<4096x256xf32>) outs(%init : tensor<256xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  } -> tensor<256xf32>
  %y = linalg.generic {indexing_maps = [#full, #col, #full], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<4096x256xf32>, tensor<256xf32>) outs(%plane : tensor<4096x256xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %r = arith.subf %a, %s : f32
    linalg.yield %r : f32
  } -> tensor<4096x256xf32>
  return %y : tensor<4096x256xf32>
}
