// The body runs once per micro-batch of the data; parameters are converted before it, sums reduced after it.
// RUN: tessera-opt %s --nn-micro-batch=count=2 | FileCheck %s
// RUN: tessera-opt %s --nn-micro-batch | FileCheck %s --check-prefix=ONE

// CHECK: func.func @gradients(%{{.*}}: tensor<8xf32> {nn.param = "w"}, %{{.*}}: tensor<2x4x8xf32, #dist<dp: S(1)>>
// CHECK-SAME: {nn.data = "x"})
// ONE: func.func @gradients(%{{.*}}: tensor<8xf32> {nn.param = "w"}, %{{.*}}: tensor<1x4x8xf32, #dist<dp: S(1)>>
// ONE-SAME: {nn.data = "x"})
// ONE: nn.micro_batches 1 of
!x = tensor<4x8xf32, #dist<dp: S(0)>>
module attributes {dist.mesh = #dist.mesh<dp = 2>} {
  func.func @gradients(%w: tensor<8xf32> {nn.param = "w"}, %x: !x {nn.data = "x"}) -> (tensor<f32>, tensor<8xf32>) {
    // CHECK: dist.convert enter %{{.*}} : tensor<8xf32> -> tensor<8xf32, #dist<dp: R>>
    // CHECK-NEXT: %[[SUMS:.*]]:2 = nn.micro_batches 2 of(%{{.*}})
    // CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<4x8xf32, #dist<dp: S(0)>>):
    // CHECK-NOT: all_reduce
    %r = dist.convert enter %w on "dp" : tensor<8xf32> -> tensor<8xf32, #dist<dp: R>>
    // CHECK: nn.einsum "bh,h->" %[[X]],
    %s = nn.einsum "bh,h->" %x, %r : (!x, tensor<8xf32, #dist<dp: R>>) -> tensor<f32, #dist<dp: P>>
    %loss = dist.convert all_reduce %s on "dp" : tensor<f32, #dist<dp: P>> -> tensor<f32>
    %d = nn.einsum "bh->h" %x : (!x) -> tensor<8xf32, #dist<dp: P>>
    // CHECK: nn.yield %{{.*}}, %{{.*}} : tensor<f32, #dist<dp: P>>, tensor<8xf32, #dist<dp: P>>
    // CHECK: %[[LOSS:.*]] = dist.convert all_reduce %[[SUMS]]#0
    // CHECK: %[[GRAD:.*]] = dist.convert all_reduce %[[SUMS]]#1
    // CHECK: return %[[LOSS]], %[[GRAD]]
    %g = dist.convert all_reduce %d on "dp" : tensor<8xf32, #dist<dp: P>> -> tensor<8xf32>
    return %loss, %g : tensor<f32>, tensor<8xf32>
  }
}
