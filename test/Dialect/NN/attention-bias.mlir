// Heads, batch and queries of attention with biases by distance may be split. The table's gradient adds over batch and
// queries; it follows the heads.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s

!q = tensor<2x6x4x16xf32>
!k = tensor<2x8x4x16xf32>
// CHECK-LABEL: @forward_and_backward
func.func @forward_and_backward(%q: !q, %k: !k, %v: !k, %t: tensor<32x4xf32>, %g: !q) {
  // CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} <scale = 1.000000e+00, max_distance = 128> :
  // CHECK-SAME: ({{.*}}, tensor<32x4xf32>) ->
  %o, %lse = nn.attention %q, %k, %v, %t <scale = 1.0, max_distance = 128>
      : (!q, !k, !k, tensor<32x4xf32>) -> (!q, tensor<2x4x6xf32>)
  // CHECK: nn.attention_grad
  // CHECK-SAME: -> (tensor<2x6x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<32x4xf32>)
  %dq, %dk, %dv, %dt = nn.attention_grad %g, %q, %k, %v, %o, %lse, %t <scale = 1.0, max_distance = 128>
      : (!q, !q, !k, !k, !q, tensor<2x4x6xf32>, tensor<32x4xf32>) -> (!q, !k, !k, tensor<32x4xf32>)
  return
}

!x = tensor<2x8x4x16xbf16, #dist<dp: S(0), tp: S(2)>>
!lse = tensor<2x4x8xf32, #dist<dp: S(0), tp: S(1)>>
!t = tensor<32x4xf32, #dist<dp: R, tp: S(1)>>
module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  // CHECK-LABEL: @heads_and_batch
  func.func @heads_and_batch(%g: !x, %q: !x, %k: !x, %v: !x, %o: !x, %lse: !lse, %t: !t) {
    // CHECK: nn.attention_grad {{.*}} -> ({{.*}}, tensor<32x4xf32, #dist<dp: P, tp: S(1)>>)
    %dq, %dk, %dv, %dt = nn.attention_grad %g, %q, %k, %v, %o, %lse, %t
        <causal, scale = 1.0, max_distance = 128>
        : (!x, !x, !x, !x, !x, !lse, !t) -> (!x, !x, !x, tensor<32x4xf32, #dist<dp: P, tp: S(1)>>)
    return
  }
}

!s = tensor<2x8x4x16xf32, #dist<cp: S(1)>>
!w = tensor<2x8x4x16xf32, #dist<cp: R>>
!l = tensor<2x4x8xf32, #dist<cp: S(2)>>
!r = tensor<32x4xf32, #dist<cp: R>>
module attributes {dist.mesh = #dist.mesh<cp = 2>} {
  // CHECK-LABEL: @queries
  func.func @queries(%g: !s, %q: !s, %k: !w, %v: !w, %o: !s, %lse: !l, %t: !r) {
    // CHECK: nn.attention_grad {{.*}} -> ({{.*}}, tensor<32x4xf32, #dist<cp: P>>)
    %dq, %dk, %dv, %dt = nn.attention_grad %g, %q, %k, %v, %o, %lse, %t <scale = 1.0, max_distance = 128>
        : (!s, !s, !w, !w, !s, !l, !r)
        -> (!s, tensor<2x8x4x16xf32, #dist<cp: P>>, tensor<2x8x4x16xf32, #dist<cp: P>>, tensor<32x4xf32, #dist<cp: P>>)
    return
  }
}
