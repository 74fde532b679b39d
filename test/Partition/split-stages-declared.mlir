// An @encode that is only declared has no tasks.
// RUN: tessera-opt %s --dist-split-stages | FileCheck %s

// CHECK: func.func @step_0
module attributes {dist.mesh = #dist.mesh<dp = 2>, nn.model = {family = "gpt2"}} {
  func.func @step(%arg0: tensor<8xf32> {nn.param = "w"}, %arg1: tensor<2x4x8xf32, #dist<dp: S(1)>>) -> tensor<f32> {
    %0 = dist.convert enter %arg0 on "dp" : tensor<8xf32> -> tensor<8xf32, #dist<dp: R>>
    %1 = nn.micro_batches 2 of(%arg1) : (tensor<2x4x8xf32, #dist<dp: S(1)>>) -> tensor<f32, #dist<dp: P>> {
    ^bb0(%arg2: tensor<4x8xf32, #dist<dp: S(0)>>):
      %3 = nn.einsum "bh,h->" %arg2, %0 {nn.phase = #nn.phase<forward>} : (tensor<4x8xf32, #dist<dp: S(0)>>, tensor<8xf32, #dist<dp: R>>) -> tensor<f32, #dist<dp: P>>
      nn.yield %3 : tensor<f32, #dist<dp: P>>
    }
    %2 = dist.convert all_reduce %1 on "dp" : tensor<f32, #dist<dp: P>> -> tensor<f32>
    return %2 : tensor<f32>
  }
  func.func private @encode(tensor<8xf32>)
}

