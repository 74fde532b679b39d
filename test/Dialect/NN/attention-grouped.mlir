// Query heads may be split within their groups: keys are then used by all ranks, and their gradients are partial sums.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s

!q = tensor<2x8x2x4x16xf32, #dist<tp: S(3)>>
!kv = tensor<2x8x2x16xf32, #dist<tp: R>>
!dkv = tensor<2x8x2x16xf32, #dist<tp: P>>
!lse = tensor<2x2x4x8xf32, #dist<tp: S(2)>>
module attributes {dist.mesh = #dist.mesh<tp = 4>} {
  // CHECK-LABEL: @queries_are_split
  func.func @queries_are_split(%q: !q, %k: !kv, %v: !kv) {
    // CHECK: nn.attention {{.*}} -> (tensor<2x8x2x4x16xf32, #dist<tp: S(3)>>, tensor<2x2x4x8xf32, #dist<tp: S(2)>>)
    %o, %l = nn.attention %q, %k, %v <causal, scale = 0.25> : (!q, !kv, !kv) -> (!q, !lse)
    // CHECK: nn.attention_grad
    // CHECK-SAME: -> (tensor<2x8x2x4x16xf32, #dist<tp: S(3)>>, tensor<2x8x2x16xf32, #dist<tp: P>>,
    // CHECK-SAME: tensor<2x8x2x16xf32, #dist<tp: P>>)
    %dq, %dk, %dv = nn.attention_grad %o, %q, %k, %v, %o, %l <causal, scale = 0.25>
        : (!q, !q, !kv, !kv, !q, !lse) -> (!q, !dkv, !dkv)
    return
  }
}
