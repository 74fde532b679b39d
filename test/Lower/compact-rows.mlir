// Rows of experts become the routed ones alone, where a top_k says how many these are.
// RUN: tessera-opt %s --rt-lower-experts --rt-compact-rows | FileCheck %s

!tokens = tensor<2x8x16xf32>
!gates = tensor<2x8x4xf32>
!rows = tensor<4x2x8x16xf32>
!weight = tensor<4x16x16xf32>

// 2 of 4 experts: 32 rows for 16 tokens. Elementwise ops follow.
// CHECK-LABEL: @two_of_four
func.func @two_of_four(%t: !tokens, %l: !gates, %w: !weight) -> (!tokens, !weight, !gates) {
  // CHECK: %[[G:.*]] = rt.routed top_k
  %g = nn.top_k 2 of %l : !gates -> !gates
  // CHECK: %[[R:.*]] = rt.routed dispatch {{.*}} -> tensor<32x16xf32>
  %r = nn.dispatch %t by %g : (!tokens, !gates) -> !rows
  // CHECK: rt.routed product {{.*}} : (tensor<32x16xf32>, tensor<4x16x16xf32>, tensor<2x8x4xf32>) -> tensor<32x16xf32>
  %h = nn.expert_linear %r, %w by %g : (!rows, !weight, !gates) -> !rows
  // CHECK: nn.map silu %{{.*}} : tensor<32x16xf32> -> tensor<32x16xf32>
  %s = nn.map silu %h : !rows -> !rows
  // CHECK: nn.einsum "xf,xf->xf" %{{.*}} : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  %p = nn.einsum "xbsf,xbsf->xbsf" %s, %h : (!rows, !rows) -> !rows
  // CHECK: nn.add "xf,xf->xf" %{{.*}} : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  %a = nn.add "xbsf,xbsf->xbsf" %p, %h : (!rows, !rows) -> !rows
  // CHECK: rt.routed product_grad_weight {{.*}} -> tensor<4x16x16xf32>
  %dw = nn.expert_linear_grad_weight %a, %r by %g : (!rows, !rows, !gates) -> !weight
  // CHECK: rt.routed collect_grad_gates {{.*}} : (tensor<2x8x16xf32>, tensor<32x16xf32>, tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  %dg = nn.collect_grad_gates %t, %a by %g : (!tokens, !rows, !gates) -> !gates
  // CHECK: rt.routed collect {{.*}} : (tensor<32x16xf32>, tensor<2x8x4xf32>) -> tensor<2x8x16xf32>
  %y = nn.collect %a by %g weighted : (!rows, !gates) -> !tokens
  return %y, %dw, %dg : !tokens, !weight, !gates
}

// Backward may make gates again: rows of both are the same, and found by the first.
// CHECK-LABEL: @gates_again
func.func @gates_again(%t: !tokens, %l: !gates) -> !tokens {
  // CHECK: %[[G:.*]] = rt.routed top_k
  %g = nn.top_k 1 of %l : !gates -> !gates
  // CHECK: rt.routed dispatch {{.*}} -> tensor<16x16xf32>
  %r = nn.dispatch %t by %g : (!tokens, !gates) -> !rows
  %again = nn.top_k 1 of %l {nn.phase = #nn.phase<recompute>} : !gates -> !gates
  // CHECK: rt.routed collect %{{.*}}, %[[G]] {{.*}} : (tensor<16x16xf32>
  %y = nn.collect %r by %again : (!rows, !gates) -> !tokens
  return %y : !tokens
}

// Other gates route other rows.
// CHECK-LABEL: @other_gates
func.func @other_gates(%t: !tokens, %l: !gates) -> !tokens {
  %g = nn.top_k 1 of %l : !gates -> !gates
  // CHECK: rt.routed dispatch {{.*}} -> tensor<4x2x8x16xf32>
  %r = nn.dispatch %t by %g : (!tokens, !gates) -> !rows
  %other = nn.top_k 2 of %l : !gates -> !gates
  %y = nn.collect %r by %other : (!rows, !gates) -> !tokens
  return %y : !tokens
}

// Nothing says how many rows these gates route.
// CHECK-LABEL: @gates_of_nobody
func.func @gates_of_nobody(%t: !tokens, %g: !gates, %l: !gates) -> (!tokens, !tokens) {
  // CHECK: rt.routed dispatch {{.*}} -> tensor<4x2x8x16xf32>
  %r = nn.dispatch %t by %g : (!tokens, !gates) -> !rows
  %y = nn.collect %r by %g : (!rows, !gates) -> !tokens
  %k = nn.top_k 2 of %l : !gates -> !gates
  %sum = nn.add "bsx,bsx->bsx" %k, %l : (!gates, !gates) -> !gates
  // CHECK: rt.routed dispatch {{.*}} -> tensor<4x2x8x16xf32>
  %r2 = nn.dispatch %t by %sum : (!tokens, !gates) -> !rows
  %y2 = nn.collect %r2 by %sum : (!rows, !gates) -> !tokens
  return %y, %y2 : !tokens, !tokens
}

// Somebody reads rows that are not routed.
// CHECK-LABEL: @read_by_others
func.func @read_by_others(%t: !tokens, %l: !gates) -> (!tokens, !rows) {
  %g = nn.top_k 2 of %l : !gates -> !gates
  // CHECK: rt.routed dispatch {{.*}} -> tensor<4x2x8x16xf32>
  %r = nn.dispatch %t by %g : (!tokens, !gates) -> !rows
  %y = nn.collect %r by %g : (!rows, !gates) -> !tokens
  return %y, %r : !tokens, !rows
}

// Verify keeps the value that it compares, at its place.
// CHECK-LABEL: @kept
func.func @kept(%t: !tokens, %l: !gates) -> !tokens {
  // CHECK: %[[G:.*]] = rt.routed top_k
  %g = nn.top_k 2 of %l : !gates -> !gates
  // CHECK: %[[R:.*]] = rt.routed dispatch %{{.*}}, %[[G]] {k = 2 : i64, total = 4 : i64} :
  // CHECK-NEXT: rt.expand_rows %[[R]] by %[[G]] {rt.keep = [{name = "1:dispatch"}]} : (tensor<32x16xf32>, tensor<2x8x4xf32>) -> tensor<4x2x8x16xf32>
  %r = nn.dispatch %t by %g {rt.keep = [{name = "1:dispatch"}]} : (!tokens, !gates) -> !rows
  %y = nn.collect %r by %g : (!rows, !gates) -> !tokens
  return %y : !tokens
}
