// Calls on compact rows have the number of rows; an exchange that of both sides and the gates of both.
// RUN: tessera-opt --split-input-file --convert-rt-to-llvm %s | FileCheck %s

// Kind 4 (product), 16 tokens, 4 experts, 32 columns, 8 inner ones, 2 experts a token, 32 rows; then kind 6 (expand) of 32
// columns; then axis 0, rows of 8, 32 rows for 4 experts and 16 tokens, 64 rows there, to the experts.
// CHECK: @tsr_arguments(dense<[{{.*}}4, 16, 4, 32, 8, 2, 0, 0, 0, 0, 32, 0, 0, 0, 0, 0, 0, 6, 16, 4, 32, 0, 0, 0, 0, 0, 0, 32, 0, 0, 0, 0, 0, 0, 1, 8, 0, 0, 1, 0, 32, 0, 0, 4, 16, 8, 0, 0, 0, 64, 1, 0]>
module attributes {dist.mesh = #dist.mesh<ep = 2>} {
  func.func @step() {
    %r = rt.zero {rt.offsets = array<i64: 0>} : tensor<32x8xf32>
    %w = rt.zero {rt.offsets = array<i64: 8192>} : tensor<4x32x8xf32>
    %g = rt.zero {rt.offsets = array<i64: 16384>} : tensor<2x8x4xf32>
    %h = rt.zero {rt.offsets = array<i64: 20480>} : tensor<4x8x2xf32>
    %y = rt.routed product %r, %w, %g {k = 2 : i64, total = 4 : i64, rt.offsets = array<i64: 32768>} : (tensor<32x8xf32>, tensor<4x32x8xf32>, tensor<2x8x4xf32>) -> tensor<32x32xf32>
    %e = rt.expand_rows %y by %g {rt.offsets = array<i64: 49152>} : (tensor<32x32xf32>, tensor<2x8x4xf32>) -> tensor<4x2x8x32xf32>
    %s = rt.exchange_rows %r by %g to %h over ["ep"] {rt.offsets = array<i64: 65536>} : (tensor<32x8xf32>, tensor<2x8x4xf32>, tensor<4x8x2xf32>) -> tensor<64x8xf32>
    return
  }
}

// -----

// In rounds of 24 rows: kind 7 (rounds); kind 5 (gradient of weights) of 24 rows in round 2, into the buffer that it adds
// to; back from the experts in round 2, into the rows that are there.
// CHECK: @tsr_calls_0_words(dense<[{{.*}}, 0, 0, 16384, 40960, {{.*}}, 0, 65536, 16384, 24576]>
// CHECK: @tsr_arguments(dense<[{{.*}}7, 16, 4, 0, 0, 0, 0, 0, 0, 0, 24, 0, 1, 0, 0, 0, 0, {{[0-9]+}}, {{[0-9]+}}, 5, 32, 2, 8, 8, 2, 0, 0, 0, 0, 24, 2, 0, 0, 0, 0, 0, 1, 8, 0, 0, 1, 0, 24, 0, 0, 2, 32, 8, 0, 0, 0, 32, 0, 2]>
module attributes {dist.mesh = #dist.mesh<ep = 2>} {
  func.func @step() {
    %r = rt.zero {rt.offsets = array<i64: 0>} : tensor<24x8xf32>
    %g = rt.zero {rt.offsets = array<i64: 8192>} : tensor<2x8x4xf32>
    %h = rt.zero {rt.offsets = array<i64: 16384>} : tensor<4x8x2xf32>
    %n = rt.row_rounds %g by 24 {rt.offsets = array<i64: 24576>} : tensor<2x8x4xf32>
    %w = rt.zero {rt.offsets = array<i64: 40960>} : tensor<2x8x8xf32>
    %o = rt.zero {rt.offsets = array<i64: 65536>} : tensor<32x8xf32>
    %d = rt.routed product_grad_weight %r, %r, %w, %h {k = 2 : i64, total = 4 : i64, round = 2 : i64, rt.offsets = array<i64: 40960>} : (tensor<24x8xf32>, tensor<24x8xf32>, tensor<2x8x8xf32>, tensor<4x8x2xf32>) -> tensor<2x8x8xf32>
    %b = rt.exchange_rows %r by %h to %n into %o over ["ep"] {round = 2 : i64, rt.offsets = array<i64: 65536>} : (tensor<24x8xf32>, tensor<4x8x2xf32>, tensor<2x8x4xf32>, tensor<32x8xf32>) -> tensor<32x8xf32>
    return
  }
}

// -----

// Kind 8 (pack) of 32 own rows, 16 tokens and 4 experts, 2 for a token, for 2 members, messages of 9 behind 7 others; then
// kind 9 (unpack) in round 2, of 32 tokens and 2 experts, 24 rows of messages of 9.
// CHECK: @tsr_arguments(dense<[{{.*}}8, 16, 4, 8, 0, 2, 0, 0, 0, 0, 32, 0, 2, 9, 7, 1, 0, 9, 32, 2, 8, 0, 2, 0, 0, 0, 0, 24, 2, 2, 9, 0, 0, 0]>
module attributes {dist.mesh = #dist.mesh<ep = 2>} {
  func.func @step() {
    %r = rt.zero {rt.offsets = array<i64: 0>} : tensor<32x8xf32>
    %g = rt.zero {rt.offsets = array<i64: 8192>} : tensor<2x8x4xf32>
    %h = rt.zero {rt.offsets = array<i64: 16384>} : tensor<4x8x2xf32>
    %m = rt.zero {rt.offsets = array<i64: 24576>} : tensor<1x18x8xf32>
    %p = rt.pack_rows %r by %g {k = 2 : i64, members = 2 : i64, own, sent = 7 : i64, rt.offsets = array<i64: 40960>} : (tensor<32x8xf32>, tensor<2x8x4xf32>) -> tensor<2x9x8xf32>
    %u = rt.unpack_rows %m by %h {k = 2 : i64, members = 2 : i64, round = 2 : i64, rt.offsets = array<i64: 49152>} : (tensor<1x18x8xf32>, tensor<4x8x2xf32>) -> tensor<24x8xf32>
    return
  }
}

// -----

// A product of integers: rows, integers, scales, gates, result.
// CHECK: @tsr_calls_0_words(dense<[{{.*}}, 0, 8192, 12288, 16384, 32768]>
// CHECK: @tsr_arguments(dense<[{{.*}}4, 16, 4, 32, 8, 2, 0, 0, 0, 0, 32, 0, 0, 0, 0, 0, 1]>
module {
  func.func @step() {
    %r = rt.zero {rt.offsets = array<i64: 0>} : tensor<32x8xf32>
    %w = rt.zero {rt.offsets = array<i64: 8192>} : tensor<4x32x8xi8>
    %s = rt.zero {rt.offsets = array<i64: 12288>} : tensor<4x32xf32>
    %g = rt.zero {rt.offsets = array<i64: 16384>} : tensor<2x8x4xf32>
    %y = rt.routed product %r, %w, %s, %g {k = 2 : i64, total = 4 : i64, rt.offsets = array<i64: 32768>} : (tensor<32x8xf32>, tensor<4x32x8xi8>, tensor<4x32xf32>, tensor<2x8x4xf32>) -> tensor<32x32xf32>
    return
  }
}
