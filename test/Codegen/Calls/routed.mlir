// Work on routed rows is one entry with a kind; an exchange by gates passes them and their sizes.
// RUN: tessera-opt --convert-rt-to-llvm %s | FileCheck %s

// Kind 4 (product), 16 tokens, 4 experts, 32 columns, 8 inner ones, 2 experts a token; then axis 0, 64 elements of a
// piece, 2 rows of pieces, from the outer dimension, 2 experts, 32 tokens, rows of 8.
// CHECK: @tsr_arguments(dense<[{{.*}}4, 16, 4, 32, 8, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 128, 0, 0, 1, 0, 2, 0, 0, 2, 32, 8, 0, 0, 0, 0, 0, 0]>
module attributes {dist.mesh = #dist.mesh<ep = 2>} {
  func.func @step() {
    %r = rt.zero {rt.offsets = array<i64: 0>} : tensor<4x2x8x8xf32>
    %w = rt.zero {rt.offsets = array<i64: 8192>} : tensor<4x32x8xf32>
    %g = rt.zero {rt.offsets = array<i64: 16384>} : tensor<2x8x4xf32>
    %h = rt.zero {rt.offsets = array<i64: 20480>} : tensor<4x8x2xf32>
    %y = rt.routed product %r, %w, %g {k = 2 : i64, total = 8 : i64, rt.offsets = array<i64: 32768>} : (tensor<4x2x8x8xf32>, tensor<4x32x8xf32>, tensor<2x8x4xf32>) -> tensor<4x2x8x32xf32>
    %s = rt.all_to_all %r by %h : tensor<4x8x2xf32> from 1 to 0 over ["ep"] {rt.offsets = array<i64: 65536>} : tensor<4x2x8x8xf32> -> tensor<2x4x8x8xf32>
    return
  }
}
