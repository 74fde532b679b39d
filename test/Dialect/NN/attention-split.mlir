// Heads and batch may be split; the log-sum-exp follows them.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s

!x = tensor<2x8x4x16xf32, #dist<dp: S(0), tp: S(2)>>
module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  // CHECK-LABEL: @heads_and_batch
  func.func @heads_and_batch(%q: !x, %k: !x, %v: !x) {
    // CHECK: nn.attention {{.*}} -> (tensor<2x8x4x16xf32, #dist<dp: S(0), tp: S(2)>>, tensor<2x4x8xf32,
    // CHECK-SAME: #dist<dp: S(0), tp: S(1)>>)
    %o, %lse = nn.attention %q, %k, %v <causal, scale = 0.25>
        : (!x, !x, !x) -> (!x, tensor<2x4x8xf32, #dist<dp: S(0), tp: S(1)>>)
    return
  }
}
