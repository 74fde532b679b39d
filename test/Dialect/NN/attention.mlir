// Forward returns the log-sum-exp that backward recomputes probabilities from.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s

!x = tensor<2x8x4x16xf32>
!lse = tensor<2x4x8xf32>
// CHECK-LABEL: @forward_and_backward
func.func @forward_and_backward(%q: !x, %k: !x, %v: !x, %g: !x) {
  // CHECK: nn.attention %{{.*}} <causal, scale = 2.500000e-01> : (
  // CHECK-SAME: -> (tensor<2x8x4x16xf32>, tensor<2x4x8xf32>)
  %o, %lse = nn.attention %q, %k, %v <causal, scale = 0.25> : (!x, !x, !x) -> (!x, !lse)
  // CHECK: nn.attention_grad %{{.*}} <causal, scale = 2.500000e-01> {dropout = 1.000000e-01 : f64, stream = 5
  // CHECK-SAME: : i64}
  %dq, %dk, %dv = nn.attention_grad %g, %q, %k, %v, %o, %lse
      <causal, scale = 0.25> {dropout = 0.1 : f64, stream = 5 : i64} : (!x, !x, !x, !x, !x, !lse) -> (!x, !x, !x)
  // CHECK: nn.attention %{{.*}} <causal, scale = 2.500000e-01, window = 3> :
  %ow, %lw = nn.attention %q, %k, %v <causal, scale = 0.25, window = 3> : (!x, !x, !x) -> (!x, !lse)
  return
}
