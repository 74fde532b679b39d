// RUN: tessera-opt %s | tessera-opt | FileCheck %s

// CHECK-LABEL: @rows_then_zeros
func.func @rows_then_zeros(%g: tensor<8x16xf32>, %x: tensor<32x16xf32>) -> tensor<32x16xf32> {
  // CHECK: nn.prefix_grad %{{.*}} like %{{.*}} : (tensor<8x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  %y = nn.prefix_grad %g like %x : (tensor<8x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  return %y : tensor<32x16xf32>
}
