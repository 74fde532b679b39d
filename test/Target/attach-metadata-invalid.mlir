// RUN: tessera-opt --split-input-file --verify-diagnostics --rt-attach-metadata %s

module {
  // expected-error @below {{has no memory plan; run rt-plan-memory first}}
  func.func @step() {
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>, rt.arena = 64 : i64, rt.arena_by_kind = {}} {
  // expected-error @below {{parameter 'w' has 16 elements on a rank, 'tensor<16xf32, #dist<tp: S(0)>>' means 8}}
  func.func @step(%w: tensor<16xf32> {nn.param = "w", rt.offset = 0 : i64, rt.global = tensor<16xf32, #dist<tp: S(0)>>}) {
    return
  }
}

// -----

module attributes {rt.arena = 64 : i64, rt.arena_by_kind = {}} {
  // expected-error @below {{argument #0 is no parameter, moment, data, table or scalar}}
  func.func @step(%w: tensor<16xf32> {rt.offset = 0 : i64}) {
    return
  }
}

// -----

// expected-error @below {{has no function @step}}
module {}

// -----

module attributes {rt.arena = 64 : i64, rt.arena_by_kind = {}} {
  // expected-error @below {{parameter 'w' has no offset; run rt-plan-memory first}}
  func.func @step(%w: tensor<16xf32> {nn.param = "w"}) {
    return
  }
}

// -----

module attributes {rt.arena = 64 : i64, rt.arena_by_kind = {}} {
  // expected-error @below {{parameter 'w' has elements of 'f16'; artifacts know f32, bf16, f64, i32 and i8}}
  func.func @step(%w: tensor<16xf16> {nn.param = "w", rt.offset = 0 : i64}) {
    return
  }
}

// -----

module attributes {rt.arena = 64 : i64, rt.arena_by_kind = {}} {
  func.func @step() -> (tensor<f32> {nn.role = "loss"}) {
    // expected-error @below {{output 'loss' has no offset; run rt-plan-memory first}}
    %loss = rt.zero : tensor<f32>
    return %loss : tensor<f32>
  }
}

// -----

module attributes {rt.arena = 64 : i64, rt.arena_by_kind = {}} {
  func.func @step() {
    // expected-error @below {{value 'y' has 4 elements on a rank, 'tensor<8xf32>' means 8}}
    %y = rt.zero {rt.offsets = array<i64: 0>, rt.keep = [{name = "y", global = tensor<8xf32>}]} : tensor<4xf32>
    return
  }
}

// -----

// Two stages fill the same input in two ways.
module attributes {dist.mesh = #dist.mesh<pp = 2, dp = 2>, rt.options = {}} {
  func.func @step_0(%x: tensor<4xf32> {nn.data = "x", rt.global = tensor<8xf32, #dist<dp: S(0)>>, rt.offset = 0 : i64}) attributes {rt.arena = 64 : i64, rt.arena_by_kind = {}, rt.stage = 0 : i64} {
    return
  }
  // expected-error @below {{input 'x' is 'tensor<4xf32>' here and 'tensor<8xf32, #dist<dp: S(0)>>' in another program; ranks must agree}}
  func.func @step_1(%x: tensor<4xf32> {nn.data = "x", rt.offset = 0 : i64}) attributes {rt.arena = 64 : i64, rt.arena_by_kind = {}, rt.stage = 1 : i64} {
    return
  }
}
