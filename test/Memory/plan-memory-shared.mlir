// RUN: tessera-opt --split-input-file --verify-diagnostics --rt-plan-memory --rt-check-memory %s | FileCheck %s

// Values that programs share lie at one place; caches and inputs of one are apart from the workspace of the other.
// CHECK: module attributes {rt.arena = 320 : i64
// CHECK-SAME: caches = 64 : i64, {{.*}}inputs = 64 : i64, optimizer = 64 : i64, "weight copies" = 0 : i64, weights = 64 : i64, workspace = 64 : i64
// CHECK-LABEL: func.func @step
// CHECK-SAME: nn.param = "w", rt.offset = 0 : i64
// CHECK-SAME: nn.role = "moment1", rt.offset = 64 : i64
// CHECK: rt.zero {rt.offsets = array<i64: 256>}
// CHECK-LABEL: func.func @decode
// CHECK-SAME: nn.data = "decode_slots", rt.offset = 192 : i64
// CHECK-SAME: nn.role = "key_cache", rt.offset = 128 : i64
// CHECK-SAME: nn.param = "w", rt.offset = 0 : i64
// CHECK-SAME: rt.arena = 384 : i64
// CHECK: rt.zero {rt.offsets = array<i64: 256>}
module {
  func.func @step(%w: tensor<4xf32> {nn.param = "w"}, %m: tensor<4xf32> {nn.role = "moment1", nn.of = "w"})
      -> (tensor<f32> {nn.role = "loss"}) {
    %l = rt.zero : tensor<f32>
    return %l : tensor<f32>
  }
  func.func @decode(%s: tensor<1x2xi32> {nn.data = "decode_slots"},
                    %c: tensor<1x2x2x1x4xf32> {nn.role = "key_cache", nn.of = "0"},
                    %w: tensor<4xf32> {nn.param = "w"})
      -> (tensor<32xf32> {nn.role = "decode_logits"}) attributes {nn.beside, nn.generation = "decode"} {
    %l = rt.zero : tensor<32xf32>
    return %l : tensor<32xf32>
  }
}

// -----

module {
  func.func @step(%w: tensor<4xf32> {nn.param = "w"}) -> (tensor<f32> {nn.role = "loss"}) {
    %l = rt.zero : tensor<f32>
    return %l : tensor<f32>
  }
  // expected-error @below {{has argument #0 of type 'tensor<2xf32>', which @step has as 'tensor<4xf32>'}}
  func.func @decode(%w: tensor<2xf32> {nn.param = "w"}) -> (tensor<f32> {nn.role = "decode_logits"})
      attributes {nn.beside, nn.generation = "decode"} {
    %l = rt.zero : tensor<f32>
    return %l : tensor<f32>
  }
}
