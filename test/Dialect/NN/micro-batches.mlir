// The body sees one micro-batch, its distribution shifted by the dimension that disappears.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s

module attributes {dist.mesh = #dist.mesh<dp = 2>} {
  // CHECK-LABEL: @sum_of_two
  func.func @sum_of_two(%ids: tensor<2x4xf32, #dist<dp: S(1)>>) -> tensor<f32, #dist<dp: P>> {
    // CHECK: nn.micro_batches 2 of(%{{.*}}) : (tensor<2x4xf32, #dist<dp: S(1)>>) -> tensor<f32, #dist<dp: P>>
    // CHECK: ^bb0(%{{.*}}: tensor<4xf32, #dist<dp: S(0)>>)
    %y = nn.micro_batches 2 of (%ids) : (tensor<2x4xf32, #dist<dp: S(1)>>) -> tensor<f32, #dist<dp: P>> {
    ^bb0(%one: tensor<4xf32, #dist<dp: S(0)>>):
      %s = nn.einsum "b->" %one : (tensor<4xf32, #dist<dp: S(0)>>) -> tensor<f32, #dist<dp: P>>
      // CHECK: nn.yield %{{.*}} : tensor<f32, #dist<dp: P>>
      nn.yield %s : tensor<f32, #dist<dp: P>>
    }
    return %y : tensor<f32, #dist<dp: P>>
  }
}
