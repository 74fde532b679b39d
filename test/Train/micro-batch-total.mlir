// A total over the batch is summed over all micro-batches in a loop of its own; what follows from
// it alone stands between.
// RUN: tessera-opt %s --nn-micro-batch=count=2 -split-input-file -verify-diagnostics | FileCheck %s

module attributes {dist.mesh = #dist.mesh<dp = 2>} {
  // CHECK-LABEL: @gradients
  // CHECK-SAME: %[[X:.*]]: tensor<2x4x8xi32, #dist<dp: S(1)>>
  func.func @gradients(%labels: tensor<4x8xi32, #dist<dp: S(0)>> {nn.data = "labels", nn.dims = "bs"}) -> tensor<f32> {
    // CHECK-NEXT: %[[COUNT:.*]] = nn.micro_batches 2 of(%[[X]])
    // CHECK: nn.counted
    // CHECK-NEXT: %[[PART:.*]] = nn.einsum "bs->"
    // CHECK-NEXT: nn.yield %[[PART]]
    // CHECK: %[[ALL:.*]] = dist.convert all_reduce %[[COUNT]] on "dp"
    // CHECK-NEXT: %[[SHARE:.*]] = nn.map reciprocal %[[ALL]]
    // CHECK-NEXT: %[[ENTERED:.*]] = dist.convert enter %[[SHARE]] on "dp"
    // CHECK-NEXT: %[[SUM:.*]] = nn.micro_batches 2 of(%[[X]])
    // CHECK: nn.counted
    // CHECK-NOT: batch_total
    // CHECK: nn.einsum ",->" %{{.*}}, %[[ENTERED]]
    // CHECK: %[[LOSS:.*]] = dist.convert all_reduce %[[SUM]] on "dp"
    // CHECK-NEXT: return %[[LOSS]]
    %m = nn.counted %labels as f32 : tensor<4x8xi32, #dist<dp: S(0)>> -> tensor<4x8xf32, #dist<dp: S(0)>>
    %n = nn.einsum "bs->" %m {nn.tag = #nn.tag<batch_total>}
        : (tensor<4x8xf32, #dist<dp: S(0)>>) -> tensor<f32, #dist<dp: P>>
    %c = dist.convert all_reduce %n on "dp" : tensor<f32, #dist<dp: P>> -> tensor<f32>
    %s = nn.einsum "bs,bs->" %m, %m
        : (tensor<4x8xf32, #dist<dp: S(0)>>, tensor<4x8xf32, #dist<dp: S(0)>>) -> tensor<f32, #dist<dp: P>>
    %r = nn.map reciprocal %c : tensor<f32> -> tensor<f32>
    %e = dist.convert enter %r on "dp" : tensor<f32> -> tensor<f32, #dist<dp: R>>
    %l = nn.einsum ",->" %s, %e : (tensor<f32, #dist<dp: P>>, tensor<f32, #dist<dp: R>>) -> tensor<f32, #dist<dp: P>>
    %loss = dist.convert all_reduce %l on "dp" : tensor<f32, #dist<dp: P>> -> tensor<f32>
    return %loss : tensor<f32>
  }
}

// -----

func.func @gradients(%w: tensor<4xf32> {nn.param = "w", nn.dims = "h"}) -> tensor<f32> {
  // expected-error @+1 {{a total over the batch depends on more than data: on an argument of type 'tensor<4xf32>'}}
  %n = nn.einsum "a->" %w {nn.tag = #nn.tag<batch_total>} : (tensor<4xf32>) -> tensor<f32>
  return %n : tensor<f32>
}
