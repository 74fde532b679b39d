// RUN: tessera-opt %s | tessera-opt | FileCheck %s

// CHECK-LABEL: @dropout
func.func @dropout(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // CHECK: nn.dropout %{{.*}} {p = 1.000000e-01 : f64, stream = 3 : i64} : tensor<2x8xf32> -> tensor<2x8xf32>
  %y = nn.dropout %x {p = 0.1 : f64, stream = 3 : i64} : tensor<2x8xf32> -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}
