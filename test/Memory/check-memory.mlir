// RUN: tessera-opt --split-input-file --verify-diagnostics --rt-check-memory %s

module attributes {rt.arena = 128 : i64} {
  func.func private @add(tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  func.func @step() -> (tensor<f32> {nn.role = "loss"}) {
    %a = rt.zero {rt.offsets = array<i64: 0>} : tensor<8xf32>
    // expected-note @below {{bytes [16, 48) are written here}}
    %b = rt.zero {rt.offsets = array<i64: 16>} : tensor<8xf32>
    // expected-error @below {{operand #0 at bytes [0, 32) no longer holds its value}}
    %s = rt.launch @add(%a, %b) {count = 8 : i64, grain = 1 : i64, rt.offsets = array<i64: 64>}
        : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
    return %s : tensor<f32>
  }
}

// -----

// The second iteration reads what the first destroyed.
module attributes {rt.arena = 256 : i64} {
  func.func private @f(tensor<8xf32>) -> tensor<8xf32>
  func.func private @g(tensor<f32>, tensor<8xf32>) -> tensor<f32> attributes {rt.may_share = [array<i64: 0, 0>]}
  func.func @step() -> (tensor<f32> {nn.role = "loss"}) {
    %z = rt.zero {rt.offsets = array<i64: 128>} : tensor<f32>
    %x = rt.zero {rt.offsets = array<i64: 0>} : tensor<8xf32>
    %l = rt.loop 2 init(%z) attributes {rt.offsets = array<i64: 128>} : (tensor<f32>) -> tensor<f32> {
    ^bb0(%i: i64, %acc: tensor<f32>):
      // expected-error @below {{operand #0 at bytes [0, 32) no longer holds its value}}
      %t = rt.launch @f(%x) {count = 8 : i64, grain = 1 : i64, rt.offsets = array<i64: 64>}
          : (tensor<8xf32>) -> tensor<8xf32>
      // expected-note @below {{bytes [0, 32) are written here}}
      %u = rt.launch @f(%t) {count = 8 : i64, grain = 1 : i64, rt.offsets = array<i64: 0>}
          : (tensor<8xf32>) -> tensor<8xf32>
      %n = rt.launch @g(%acc, %u) {count = 1 : i64, grain = 1 : i64, rt.offsets = array<i64: 128>}
          : (tensor<f32>, tensor<8xf32>) -> tensor<f32>
      rt.yield %n : tensor<f32>
    }
    return %l : tensor<f32>
  }
}

// -----

// A kernel shares what it says, not another operand.
module attributes {rt.arena = 128 : i64} {
  func.func private @f(tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> attributes {rt.may_share = [array<i64: 1, 0>]}
  func.func @step() -> (tensor<8xf32> {nn.role = "loss"}) {
    %a = rt.zero {rt.offsets = array<i64: 0>} : tensor<8xf32>
    %b = rt.zero {rt.offsets = array<i64: 64>} : tensor<8xf32>
    // expected-error @below {{result #0 at bytes [0, 32) overlaps operand #0 at bytes [0, 32)}}
    %r = rt.launch @f(%a, %b) {count = 8 : i64, grain = 1 : i64, rt.offsets = array<i64: 0>}
        : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    return %r : tensor<8xf32>
  }
}

// -----

// Nor with another result.
module attributes {rt.arena = 128 : i64} {
  func.func private @f(tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) attributes {rt.may_share = [array<i64: 0, 0>]}
  func.func @step() -> (tensor<8xf32> {nn.role = "loss"}) {
    %a = rt.zero {rt.offsets = array<i64: 0>} : tensor<8xf32>
    // expected-error @below {{result #1 at bytes [0, 32) overlaps operand #0 at bytes [0, 32)}}
    %r:2 = rt.launch @f(%a) {count = 8 : i64, grain = 1 : i64, rt.offsets = array<i64: 64, 0>}
        : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
    return %r#0 : tensor<8xf32>
  }
}

// -----

module attributes {rt.arena = 64 : i64} {
  func.func private @f(tensor<8xf32>) -> tensor<8xf32>
  func.func private @sum(tensor<8xf32>) -> tensor<f32>
  func.func @step() -> (tensor<f32> {nn.role = "loss"}) {
    %a = rt.zero {rt.offsets = array<i64: 0>} : tensor<8xf32>
    // expected-error @below {{result #0 at bytes [0, 32) overlaps operand #0 at bytes [0, 32)}}
    %b = rt.launch @f(%a) {count = 8 : i64, grain = 1 : i64, rt.offsets = array<i64: 0>}
        : (tensor<8xf32>) -> tensor<8xf32>
    %s = rt.launch @sum(%b) {count = 8 : i64, grain = 1 : i64, rt.offsets = array<i64: 32>}
        : (tensor<8xf32>) -> tensor<f32>
    return %s : tensor<f32>
  }
}

// -----

module attributes {rt.arena = 64 : i64} {
  func.func @step() -> (tensor<8xf32> {nn.role = "loss"}) {
    // expected-error @below {{writes bytes [48, 80) of an arena of 64 bytes}}
    %a = rt.zero {rt.offsets = array<i64: 48>} : tensor<8xf32>
    return %a : tensor<8xf32>
  }
}

// -----

module attributes {rt.arena = 128 : i64} {
  func.func @step() -> (tensor<8xf32> {nn.role = "loss"}) {
    %a = rt.zero {rt.offsets = array<i64: 0>} : tensor<8xf32>
    // expected-error @below {{a result written in place lies at byte 64, it must lie at byte 0}}
    %r = rt.all_reduce %a over ["tp"] {maximum = false, rt.offsets = array<i64: 64>} : tensor<8xf32> -> tensor<8xf32>
    return %r : tensor<8xf32>
  }
}

// -----

// The part has few enough elements, but its last row leaves the whole.
module attributes {rt.arena = 768 : i64} {
  func.func @step() -> (tensor<2x4x1x8xf32> {nn.role = "loss"}) {
    %a = rt.zero {rt.offsets = array<i64: 0>} : tensor<2x4x3x1x8xf32>
    // expected-error @below {{covers elements [20, 196) of a tensor of 192 elements}}
    %v = rt.view %a {offset = 20 : i64, parts = 3 : i64, rt.offsets = array<i64: 80>}
        : tensor<2x4x3x1x8xf32> -> tensor<2x4x1x8xf32>
    return %v : tensor<2x4x1x8xf32>
  }
}

// -----

module attributes {rt.arena = 128 : i64} {
  // expected-error @below {{is kept at bytes [0, 32) but is overwritten}}
  func.func @step(%w: tensor<8xf32> {nn.param = "w", rt.offset = 0 : i64}) -> (tensor<8xf32> {nn.role = "loss"}) {
    %a = rt.zero {rt.offsets = array<i64: 0>} : tensor<8xf32>
    return %a : tensor<8xf32>
  }
}

// -----

module attributes {rt.arena = 128 : i64} {
  func.func @step() -> (tensor<8xf32> {nn.role = "loss"}) {
    // expected-error @below {{has no offset; run rt-plan-memory first}}
    %a = rt.zero : tensor<8xf32>
    return %a : tensor<8xf32>
  }
}
