// Backward is appended: gradients of all uses add, then the conversion of the value is transposed.
// RUN: tessera-opt %s --nn-differentiate | FileCheck %s

// CHECK: func.func @gradients(
// CHECK-SAME: -> (tensor<f32> {nn.role = "loss"}, tensor<8xf32> {nn.param = "w", nn.role = "gradient"})
module attributes {dist.mesh = #dist.mesh<dp = 2>} {
  func.func @loss(%w: tensor<8xf32> {nn.param = "w"},
      %x: tensor<4x8xf32, #dist<dp: S(0)>> {nn.data = "x"}) -> tensor<f32> {
    // CHECK: dist.convert enter %[[W:.*]] on "dp"
    %r = dist.convert enter %w on "dp" : tensor<8xf32> -> tensor<8xf32, #dist<dp: R>>
    %y = nn.add "bh,h->bh" %x, %r
        : (tensor<4x8xf32, #dist<dp: S(0)>>, tensor<8xf32, #dist<dp: R>>) -> tensor<4x8xf32, #dist<dp: S(0)>>
    %s = nn.einsum "bh,h->" %y, %r
        : (tensor<4x8xf32, #dist<dp: S(0)>>, tensor<8xf32, #dist<dp: R>>) -> tensor<f32, #dist<dp: P>>
    // CHECK: %[[LOSS:.*]] = dist.convert all_reduce
    // CHECK-NOT: nn.phase
    %loss = dist.convert all_reduce %s on "dp" : tensor<f32, #dist<dp: P>> -> tensor<f32>
    // CHECK: %[[ONE:.*]] = nn.constant 1.000000e+00 f32 {nn.phase = #nn.phase<backward>}
    // CHECK: dist.convert enter %[[ONE]] on "dp" {nn.phase = #nn.phase<backward>} : tensor<f32>
    // CHECK-SAME: -> tensor<f32, #dist<dp: R>>
    // CHECK: %[[A:.*]] = nn.einsum {{.*}} -> tensor<8xf32, #dist<dp: P>>
    // CHECK: %[[B:.*]] = nn.einsum "bh->h" {{.*}} -> tensor<8xf32, #dist<dp: P>>
    // CHECK: %[[SUM:.*]] = nn.add "a,a->a" %[[A]], %[[B]]
    // CHECK: %[[GRAD:.*]] = dist.convert all_reduce %[[SUM]] on "dp" {nn.phase = #nn.phase<backward>}
    // CHECK-SAME: : tensor<8xf32, #dist<dp: P>> -> tensor<8xf32>
    // CHECK-NEXT: return %[[LOSS]], %[[GRAD]]
    return %loss : tensor<f32>
  }
}
