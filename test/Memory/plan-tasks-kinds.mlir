// A value that a task alone holds keeps its kind: under stage 3 of ZeRO, parameters that it gathers.
// RUN: tessera-opt %s --rt-insert-copies --rt-plan-memory --split-input-file | FileCheck %s

// Forward holds both whole parameters at once, 2 x 2048 bytes, more than backward, one and 1024 bytes of its own.
// CHECK: rt.arena = 6336 : i64, rt.arena_by_kind = {activations = 192 : i64, "gathered weights" = 4096 : i64, gradients = 0 : i64
// CHECK-SAME: weights = 2048 : i64, workspace = 0 : i64}
!w = tensor<512xf32>
!s = tensor<256xf32>
!x = tensor<16xf32>
module attributes {dist.mesh = #dist.mesh<dp = 2, pp = 1>} {
  func.func private @f(!w, !w) -> !x
  func.func private @add(!x, !x) -> !x attributes {rt.may_share = [array<i64: 0, 0>]}
  func.func private @g(!w, !x) -> (!s, !x)
  func.func @step(%p: !s {nn.param = "p"}, %q: !s {nn.param = "q"}) -> !x
      attributes {rt.order = array<i64: 0, 0, 0, 1, 1, 0, 0, 2, 1, 1, 1, 2>} {
    %zero = rt.zero : !x
    %sum = rt.loop 2 init(%zero) : (!x) -> !x {
    ^bb0(%j: i64, %old: !x):
      rt.task 0 "F0"
      %pq:2 = rt.all_gather_coalesced %p, %q along [0, 0] over ["dp"] : !s, !s -> !w, !w
      %a = rt.launch @f(%pq#0, %pq#1) {count = 1 : i64, grain = 1 : i64} : (!w, !w) -> !x
      rt.task 1 "B0"
      %p1 = rt.all_gather %p along 0 over ["dp"] {nn.phase = #nn.phase<backward>} : !s -> !w
      %b:2 = rt.launch @g(%p1, %a) {count = 1 : i64, grain = 1 : i64, nn.phase = #nn.phase<backward>} : (!w, !x) -> (!s, !x)
      %new = rt.launch @add(%old, %b#1) {count = 1 : i64, grain = 1 : i64, nn.phase = #nn.phase<backward>} : (!x, !x) -> !x
      rt.yield %new : !x
    }
    rt.task 0 "F0"
    %pq:2 = rt.all_gather_coalesced %p, %q along [0, 0] over ["dp"] : !s, !s -> !w, !w
    %a = rt.launch @f(%pq#0, %pq#1) {count = 1 : i64, grain = 1 : i64} : (!w, !w) -> !x
    rt.task 1 "B0"
    %p1 = rt.all_gather %p along 0 over ["dp"] {nn.phase = #nn.phase<backward>} : !s -> !w
    %b:2 = rt.launch @g(%p1, %a) {count = 1 : i64, grain = 1 : i64, nn.phase = #nn.phase<backward>} : (!w, !x) -> (!s, !x)
    %all = rt.launch @add(%sum, %b#1) {count = 1 : i64, grain = 1 : i64, nn.phase = #nn.phase<backward>} : (!x, !x) -> !x
    rt.tasks_end
    return %all : !x
  }
}
