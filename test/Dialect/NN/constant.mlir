// RUN: tessera-opt %s | tessera-opt | FileCheck %s

// CHECK-LABEL: @one
func.func @one() -> tensor<f32> {
  // CHECK: nn.constant 1.000000e+00 f32 : tensor<f32>
  %one = nn.constant 1.0 f32 : tensor<f32>
  return %one : tensor<f32>
}
