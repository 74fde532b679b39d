// RUN: tessera-opt %s | tessera-opt | FileCheck %s

// CHECK-LABEL: @rows
func.func @rows(%g: tensor<2x8xf32>, %x: tensor<2x8x64xf32>) -> tensor<2x8x64xf32> {
  // CHECK: nn.broadcast "bs,bsv->bsv" %{{.*}} like %{{.*}} : (tensor<2x8xf32>, tensor<2x8x64xf32>)
  // CHECK-SAME: -> tensor<2x8x64xf32>
  %y = nn.broadcast "bs,bsv->bsv" %g like %x : (tensor<2x8xf32>, tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
  return %y : tensor<2x8x64xf32>
}
