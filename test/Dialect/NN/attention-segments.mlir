// Segments are split as queries and keys are: over the batch, and over sequences where those are.
// RUN: tessera-opt %s -split-input-file | tessera-opt -split-input-file | FileCheck %s

!x = tensor<2x8x4x16xf32>
!lse = tensor<2x4x8xf32>
!ids = tensor<2x8xi32>
// CHECK-LABEL: @forward_and_backward
func.func @forward_and_backward(%q: !x, %k: !x, %v: !x, %g: !x, %s: !ids, %table: tensor<32x4xf32>) {
  // CHECK: nn.attention %{{.*}} segments(%[[S:.*]], %[[S]]) <causal, scale = 2.500000e-01> : (
  %o, %lse = nn.attention %q, %k, %v segments(%s, %s) <causal, scale = 0.25> : (!x, !x, !x, !ids, !ids) -> (!x, !lse)
  // CHECK: nn.attention_grad %{{.*}} segments(%[[S]], %[[S]]) <causal, scale
  %dq, %dk, %dv = nn.attention_grad %g, %q, %k, %v, %o, %lse segments(%s, %s) <causal, scale = 0.25>
      : (!x, !x, !x, !x, !x, !lse, !ids, !ids) -> (!x, !x, !x)
  // CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} segments(%[[S]], %[[S]]) <scale = {{.*}}, max_distance = 128
  %ob, %lb = nn.attention %q, %k, %v, %table segments(%s, %s) <scale = 1.0, max_distance = 128>
      : (!x, !x, !x, tensor<32x4xf32>, !ids, !ids) -> (!x, !lse)
  return
}

// -----

!x = tensor<2x8x4x16xf32, #dist<cp: S(1), dp: S(0)>>
!k = tensor<2x8x4x16xf32, #dist<cp: R, dp: S(0)>>
!lse = tensor<2x4x8xf32, #dist<cp: S(2), dp: S(0)>>
!own = tensor<2x8xi32, #dist<cp: S(1), dp: S(0)>>
!all = tensor<2x8xi32, #dist<cp: R, dp: S(0)>>
module attributes {dist.mesh = #dist.mesh<dp = 2, cp = 2>} {
  // CHECK-LABEL: @split_queries
  func.func @split_queries(%q: !x, %k: !k, %own: !own, %all: !all) {
    // CHECK: nn.attention
    %o, %lse = nn.attention %q, %k, %k segments(%own, %all) <causal, scale = 0.25>
        : (!x, !k, !k, !own, !all) -> (!x, !lse)
    return
  }
}
