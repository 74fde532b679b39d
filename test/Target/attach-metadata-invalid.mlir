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
  // expected-error @below {{argument #0 is no parameter, moment, data or scalar}}
  func.func @step(%w: tensor<16xf32> {rt.offset = 0 : i64}) {
    return
  }
}
