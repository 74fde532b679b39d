// RUN: tessera-opt --split-input-file --rt-annotate-sharing %s | FileCheck %s

// Elements are read before they are written; a row of the other operand is read
// by all rows.
// CHECK: func.func private @add_row
// CHECK-SAME: rt.may_share = [array<i64: 0, 0>]
#all = affine_map<(r, c) -> (r, c)>
#row = affine_map<(r, c) -> (c)>
module {
  func.func private @add_row(%x: tensor<4x4xf32>,
      %b: tensor<4xf32>) -> tensor<4x4xf32> attributes {rt.schedule = "row"} {
    %e = tensor.empty() : tensor<4x4xf32>
    %y = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
        ins(%x, %b : tensor<4x4xf32>, tensor<4xf32>) outs(%e : tensor<4x4xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %s = arith.addf %p, %q : f32
      linalg.yield %s : f32
    } -> tensor<4x4xf32>
    return %y : tensor<4x4xf32>
  }
}

// -----

// Not a kernel: without a schedule.
// CHECK: func.func @helper
// CHECK-NOT: rt.may_share
#element = affine_map<(r) -> (r)>
module {
  func.func @helper(%x: tensor<4xf32>) -> tensor<4xf32> {
    %e = tensor.empty() : tensor<4xf32>
    %y = linalg.generic {indexing_maps = [#element, #element], iterator_types = ["parallel"]}
        ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%p: f32, %o: f32):
      %s = arith.addf %p, %p : f32
      linalg.yield %s : f32
    } -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}
