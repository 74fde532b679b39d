// RUN: tessera-opt --split-input-file --rt-plan-memory --rt-check-memory %s | FileCheck %s

// Parameters, moments, inputs, then values; 64-byte aligned.
// CHECK: module attributes {rt.arena = 320 : i64
// CHECK-SAME: inputs = 64 : i64, optimizer = 128 : i64, "weight copies" = 0 : i64, weights = 64 : i64, workspace = 64 : i64
// CHECK-LABEL: func.func @step
// CHECK-SAME: nn.role = "lr", rt.offset = 192 : i64
// CHECK-SAME: nn.param = "w", rt.offset = 0 : i64
// CHECK-SAME: nn.role = "moment1", rt.offset = 64 : i64
// CHECK-SAME: nn.role = "moment2", rt.offset = 128 : i64
// CHECK: rt.zero {rt.offsets = array<i64: 256>}
module {
  func.func @step(%lr: tensor<f32> {nn.role = "lr"}, %w: tensor<4xf32> {nn.param = "w"},
                  %m: tensor<4xf32> {nn.role = "moment1", nn.of = "w"},
                  %v: tensor<4xf32> {nn.role = "moment2", nn.of = "w"})
      -> (tensor<f32> {nn.role = "loss"}) {
    %l = rt.zero : tensor<f32>
    return %l : tensor<f32>
  }
}

// -----

// An update takes the place of its parameter.
// CHECK-LABEL: func.func @step
// CHECK-SAME: nn.param = "w", rt.offset = 0 : i64
// CHECK: rt.launch @decay
// CHECK-SAME: rt.offsets = array<i64: 0>
module {
  func.func private @decay(tensor<4xf32>) -> tensor<4xf32> attributes {rt.may_share = [array<i64: 0, 0>]}
  func.func @step(%w: tensor<4xf32> {nn.param = "w"}) -> (tensor<4xf32> {nn.role = "parameter", nn.param = "w"}) {
    %n = rt.launch @decay(%w) {count = 4 : i64, grain = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    return %n : tensor<4xf32>
  }
}

// -----

// Views lie in their source, parts in their concatenation, also those with gaps.
// CHECK-LABEL: func.func @step
// CHECK: rt.zero {rt.offsets = array<i64: [[SOURCE:[0-9]+]]>}
// CHECK: rt.view %{{.*}} {offset = 16 : i64, rt.offsets = array<i64: 64>}
// CHECK: rt.copy {{.*}}rt.offsets = array<i64: [[J:[0-9]+]]>
// CHECK: rt.copy {{.*}}rt.offsets = array<i64: 288>
// CHECK: rt.concat {{.*}}rt.offsets = array<i64: 256>
module {
  func.func private @sum(tensor<4x2x8xf32>) -> tensor<f32>
  func.func @step() -> (tensor<f32> {nn.role = "loss"}) {
    %a = rt.zero : tensor<2x4x8xf32>
    %v = rt.view %a {offset = 16 : i64} : tensor<2x4x8xf32> -> tensor<2x8xf32>
    %q = rt.view %a {offset = 32 : i64} : tensor<2x4x8xf32> -> tensor<4x8xf32>
    %p0 = rt.copy %q : tensor<4x8xf32> -> tensor<4x8xf32>
    %p1 = rt.copy %q : tensor<4x8xf32> -> tensor<4x8xf32>
    %j = rt.concat %p0, %p1 {part_offsets = array<i64: 0, 8>} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x2x8xf32>
    %s = rt.launch @sum(%j) {count = 8 : i64, grain = 1 : i64} : (tensor<4x2x8xf32>) -> tensor<f32>
    return %s : tensor<f32>
  }
}

// -----

// A value that a loop carries is one buffer; a value that it reads from outside outlives it.
// CHECK: module attributes {{.*}}rt.arena = 192 : i64
// CHECK-LABEL: func.func @step
// CHECK: rt.zero {rt.offsets = array<i64: [[A:[0-9]+]]>}
// CHECK: rt.zero {rt.offsets = array<i64: [[X:[0-9]+]]>}
// CHECK: rt.loop 2 {{.*}}rt.offsets = array<i64: [[A]]>
// CHECK: rt.launch @f({{.*}}rt.offsets = array<i64: [[T:[0-9]+]]>
// CHECK: rt.launch @g({{.*}}rt.offsets = array<i64: [[A]]>
// CHECK: rt.all_reduce {{.*}}rt.offsets = array<i64: [[A]]>
module attributes {dist.mesh = #dist.mesh<dp = 2>} {
  func.func private @f(tensor<4xf32>) -> tensor<16xf32>
  func.func private @g(tensor<4xf32>, tensor<16xf32>) -> tensor<4xf32> attributes {rt.may_share = [array<i64: 0, 0>]}
  func.func private @h(tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  func.func @step() -> (tensor<f32> {nn.role = "loss"}) {
    %zero = rt.zero : tensor<4xf32>
    %x = rt.zero : tensor<4xf32>
    %sum = rt.loop 2 init(%zero) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%i: i64, %acc: tensor<4xf32>):
      %t = rt.launch @f(%x) {count = 4 : i64, grain = 1 : i64} : (tensor<4xf32>) -> tensor<16xf32>
      %n = rt.launch @g(%acc, %t) {count = 4 : i64, grain = 1 : i64} : (tensor<4xf32>, tensor<16xf32>) -> tensor<4xf32>
      rt.yield %n : tensor<4xf32>
    }
    %r = rt.all_reduce %sum over ["dp"] {maximum = false} : tensor<4xf32> -> tensor<4xf32>
    %l = rt.launch @h(%r, %x) {count = 4 : i64, grain = 1 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
    return %l : tensor<f32>
  }
}

// -----

// A sum is written over the sum before it, inside of the bucket that holds it.
// CHECK-LABEL: func.func @step
// CHECK: rt.zero {rt.offsets = array<i64: [[#FIRST:]]>}
// CHECK: rt.zero {rt.offsets = array<i64: [[#FIRST+64]]>}
// CHECK: rt.loop 2
// CHECK-SAME: rt.offsets = array<i64: [[#FIRST]], [[#FIRST+64]]>
// CHECK: rt.all_reduce
// CHECK-SAME: rt.offsets = array<i64: [[#FIRST+64]]>
// CHECK: rt.launch @add
// CHECK-SAME: rt.offsets = array<i64: [[#FIRST]]>
// CHECK: rt.concat
// CHECK-SAME: rt.offsets = array<i64: [[#FIRST]]>
!g = tensor<16xf32>
module {
  func.func private @add(!g, !g) -> !g attributes {rt.may_share = [array<i64: 0, 0>]}
  func.func @step(%x: !g {nn.role = "x"}) -> (tensor<32xf32> {nn.role = "loss"}) {
    %a = rt.zero : !g
    %b = rt.zero : !g
    %sums:2 = rt.loop 2 init(%a, %b) : (!g, !g) -> (!g, !g) {
    ^bb0(%i: i64, %a1: !g, %b1: !g):
      %a2 = rt.launch @add(%a1, %x) {count = 1 : i64, grain = 1 : i64} : (!g, !g) -> !g
      %b2 = rt.launch @add(%b1, %x) {count = 1 : i64, grain = 1 : i64} : (!g, !g) -> !g
      rt.yield %a2, %b2 : !g, !g
    }
    %b3 = rt.all_reduce %sums#1 over ["tp"] {maximum = false} : !g -> !g
    %a3 = rt.launch @add(%sums#0, %x) {count = 1 : i64, grain = 1 : i64} : (!g, !g) -> !g
    %all = rt.concat %a3, %b3 {part_offsets = array<i64: 0, 16>} : (!g, !g) -> tensor<32xf32>
    %sum = rt.all_reduce %all over ["dp"] {maximum = false} : tensor<32xf32> -> tensor<32xf32>
    return %sum : tensor<32xf32>
  }
}
