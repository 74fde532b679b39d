// Tensors that unstack cuts are joined by stack.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s

// CHECK-LABEL: @cut_and_join
func.func @cut_and_join(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  // CHECK: %[[PARTS:.*]]:3 = nn.unstack %{{.*}} along 1 : tensor<2x3x4xf32>
  // CHECK-SAME: -> tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
  %q, %k, %v = nn.unstack %x along 1 : tensor<2x3x4xf32> -> tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
  // CHECK: nn.stack %[[PARTS]]#0, %[[PARTS]]#1, %[[PARTS]]#2 along 1
  // CHECK-SAME: : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x3x4xf32>
  %y = nn.stack %q, %k, %v along 1 : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}
