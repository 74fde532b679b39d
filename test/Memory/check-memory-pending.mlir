// Between start and wait nothing touches what a collective writes.
// RUN: tessera-opt --split-input-file --verify-diagnostics --rt-check-memory %s

// The plan placed another buffer over the pending one.
module attributes {rt.arena = 192 : i64} {
  func.func private @sum(tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  func.func @step() -> (tensor<f32> {nn.role = "loss"}) {
    %a = rt.zero {rt.offsets = array<i64: 0>} : tensor<8xf32>
    // expected-note @below {{it is started here}}
    %p = rt.all_reduce %a over ["dp"] async {maximum = false, rt.offsets = array<i64: 0>}
        : tensor<8xf32> -> tensor<8xf32>
    // expected-error @below {{writes bytes [16, 48), which a pending collective uses; rt.wait for it first}}
    %b = rt.zero {rt.offsets = array<i64: 16>} : tensor<8xf32>
    %y = rt.wait %p {rt.offsets = array<i64: 0>} : tensor<8xf32> -> tensor<8xf32>
    %s = rt.launch @sum(%y, %b) {count = 8 : i64, grain = 1 : i64, rt.offsets = array<i64: 128>}
        : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
    return %s : tensor<f32>
  }
}

// -----

// An op reads the operand, whose buffer the sum is written to.
module attributes {rt.arena = 192 : i64} {
  func.func private @sum(tensor<8xf32>) -> tensor<f32>
  func.func @step() -> (tensor<f32> {nn.role = "loss"}) {
    %a = rt.zero {rt.offsets = array<i64: 0>} : tensor<8xf32>
    // expected-note @below {{it is started here}}
    %p = rt.all_reduce %a over ["dp"] async {maximum = false, rt.offsets = array<i64: 0>}
        : tensor<8xf32> -> tensor<8xf32>
    // expected-error @below {{reads bytes [0, 32), which a pending collective uses; rt.wait for it first}}
    %s = rt.launch @sum(%a) {count = 8 : i64, grain = 1 : i64, rt.offsets = array<i64: 128>}
        : (tensor<8xf32>) -> tensor<f32>
    %y = rt.wait %p {rt.offsets = array<i64: 0>} : tensor<8xf32> -> tensor<8xf32>
    return %s : tensor<f32>
  }
}

// -----

// The result must be where the collective wrote it.
module attributes {rt.arena = 192 : i64} {
  func.func private @sum(tensor<8xf32>) -> tensor<f32>
  func.func @step() -> (tensor<f32> {nn.role = "loss"}) {
    %a = rt.zero {rt.offsets = array<i64: 0>} : tensor<8xf32>
    %p = rt.all_reduce %a over ["dp"] async {maximum = false, rt.offsets = array<i64: 0>}
        : tensor<8xf32> -> tensor<8xf32>
    // expected-error @below {{a result written in place lies at byte 64, it must lie at byte 0}}
    %y = rt.wait %p {rt.offsets = array<i64: 64>} : tensor<8xf32> -> tensor<8xf32>
    %s = rt.launch @sum(%y) {count = 8 : i64, grain = 1 : i64, rt.offsets = array<i64: 128>}
        : (tensor<8xf32>) -> tensor<f32>
    return %s : tensor<f32>
  }
}

// -----

// Right: work elsewhere, in every iteration, and a bucket of sums that a loop made, which is read
// as its parts are.
module attributes {rt.arena = 320 : i64} {
  func.func private @sum(tensor<16xf32>, tensor<8xf32>) -> tensor<f32>
  func.func @step() -> (tensor<f32> {nn.role = "loss"}) {
    %z = rt.zero {rt.offsets = array<i64: 0>} : tensor<16xf32>
    %l = rt.loop 2 init(%z) attributes {rt.offsets = array<i64: 0>} : (tensor<16xf32>) -> tensor<16xf32> {
    ^bb0(%i: i64, %acc: tensor<16xf32>):
      %p = rt.all_reduce %acc over ["tp"] async {maximum = false, rt.offsets = array<i64: 0>}
          : tensor<16xf32> -> tensor<16xf32>
      %b = rt.zero {rt.offsets = array<i64: 128>} : tensor<8xf32>
      %y = rt.wait %p {rt.offsets = array<i64: 0>} : tensor<16xf32> -> tensor<16xf32>
      rt.yield %y : tensor<16xf32>
    }
    %c = rt.zero {rt.offsets = array<i64: 64>} : tensor<16xf32>
    %z8 = rt.zero {rt.offsets = array<i64: 128>} : tensor<8xf32>
    %j = rt.concat %l, %c {part_offsets = array<i64: 0, 16>, rt.offsets = array<i64: 0>}
        : (tensor<16xf32>, tensor<16xf32>) -> tensor<32xf32>
    %before = rt.launch @sum(%l, %z8) {count = 8 : i64, grain = 1 : i64, rt.offsets = array<i64: 256>}
        : (tensor<16xf32>, tensor<8xf32>) -> tensor<f32>
    %q = rt.all_reduce %j over ["dp"] async {maximum = false, rt.offsets = array<i64: 0>}
        : tensor<32xf32> -> tensor<32xf32>
    %d = rt.zero {rt.offsets = array<i64: 128>} : tensor<8xf32>
    %w = rt.wait %q {rt.offsets = array<i64: 0>} : tensor<32xf32> -> tensor<32xf32>
    %v = rt.view %w {offset = 16 : i64, rt.offsets = array<i64: 64>} : tensor<32xf32> -> tensor<16xf32>
    %s = rt.launch @sum(%v, %d) {count = 8 : i64, grain = 1 : i64, rt.offsets = array<i64: 256>}
        : (tensor<16xf32>, tensor<8xf32>) -> tensor<f32>
    return %s : tensor<f32>
  }
}
