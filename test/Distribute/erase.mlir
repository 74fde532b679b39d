// Conversions and states go, also inside of the micro-batch loop; ops, operands and other attributes stay.
// RUN: tessera-opt %s --dist-erase | FileCheck %s --implicit-check-not=dist

!x = tensor<4x8xf32, #dist<dp: S(0)>>
module attributes {dist.mesh = #dist.mesh<dp = 2>, nn.model = {family = "gpt2"}} {
  // CHECK: module attributes {nn.model = {family = "gpt2"}}
  // CHECK: func.func @step(%[[W:.*]]: tensor<8xf32> {nn.param = "w"}, %[[X:.*]]: tensor<2x4x8xf32>) -> tensor<f32>
  func.func @step(%w: tensor<8xf32> {nn.param = "w"}, %all: tensor<2x4x8xf32, #dist<dp: S(1)>>) -> tensor<f32> {
    %r = dist.convert enter %w on "dp" : tensor<8xf32> -> tensor<8xf32, #dist<dp: R>>
    // CHECK-NEXT: %[[SUM:.*]] = nn.micro_batches 2 of(%[[X]]) : (tensor<2x4x8xf32>) -> tensor<f32>
    %sum = nn.micro_batches 2 of (%all) : (tensor<2x4x8xf32, #dist<dp: S(1)>>) -> tensor<f32, #dist<dp: P>> {
    // CHECK-NEXT: ^bb0(%[[ONE:.*]]: tensor<4x8xf32>):
    ^bb0(%x: !x):
      // CHECK-NEXT: %[[Y:.*]] = nn.einsum "bh,h->" %[[ONE]], %[[W]] {nn.phase = #nn.phase<forward>}
      // CHECK-SAME: : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<f32>
      %y = nn.einsum "bh,h->" %x, %r {nn.phase = #nn.phase<forward>}
          : (!x, tensor<8xf32, #dist<dp: R>>) -> tensor<f32, #dist<dp: P>>
      // CHECK-NEXT: nn.yield %[[Y]] : tensor<f32>
      nn.yield %y : tensor<f32, #dist<dp: P>>
    }
    // CHECK: return %[[SUM]]
    %loss = dist.convert all_reduce %sum on "dp" : tensor<f32, #dist<dp: P>> -> tensor<f32>
    return %loss : tensor<f32>
  }
  // CHECK: func.func private @declared(tensor<8xf32>)
  func.func private @declared(tensor<8xf32>)
}
