// RUN: tessera-opt --split-input-file --verify-diagnostics --rt-plan-memory %s

module {
  func.func private @add(tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  func.func @step() -> (tensor<f32> {nn.role = "loss"}) {
    // expected-note @below {{the value is here}}
    %a = rt.zero : tensor<8xf32>
    // expected-error @below {{operand #0 is written in place but read again later; run rt-insert-copies first}}
    %r = rt.all_reduce %a over ["tp"] {maximum = false} : tensor<8xf32> -> tensor<8xf32>
    %s = rt.launch @add(%a, %r) {count = 8 : i64, grain = 1 : i64} : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
    return %s : tensor<f32>
  }
}

// -----

module {
  // expected-note @below {{the value is here}}
  func.func @step(%w: tensor<f32> {nn.role = "lr"}) -> (tensor<f32> {nn.role = "loss"}) {
    // expected-error @below {{operand #0 is returned and has no buffer of its own; run rt-insert-copies first}}
    return %w : tensor<f32>
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2, pp = 2>} {
  func.func @step_0() attributes {rt.stage = 0 : i64} {
    return
  }
  func.func @step_1() attributes {rt.stage = 1 : i64} {
    return
  }
  // expected-error @below {{is of a program with 1 stages, but that of 'step_0' has 2}}
  func.func @evaluation() attributes {nn.evaluation} {
    return
  }
}
