// A step that writes where another program has a cache is refused.
// RUN: tessera-opt --verify-diagnostics --rt-check-memory %s

module attributes {rt.arena = 256 : i64} {
  func.func @step(%w: tensor<4xf32> {nn.param = "w", rt.offset = 0 : i64}) -> (tensor<f32> {nn.role = "loss"}) {
    %l = rt.zero {rt.offsets = array<i64: 128>} : tensor<f32>
    return %l : tensor<f32>
  }
  func.func @decode(%w: tensor<4xf32> {nn.param = "w", rt.offset = 0 : i64},
                    // expected-error @below {{lies at bytes [96, 160) but is overwritten by @step}}
                    %c: tensor<1x2x2x1x4xf32> {nn.role = "key_cache", nn.of = "0", rt.offset = 96 : i64})
      -> (tensor<f32> {nn.role = "decode_logits"})
      attributes {nn.beside, nn.generation = "decode", rt.arena = 256 : i64} {
    %l = rt.zero {rt.offsets = array<i64: 192>} : tensor<f32>
    return %l : tensor<f32>
  }
}
