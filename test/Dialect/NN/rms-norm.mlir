// Root mean square normalization, its gradients, in parallel: the weight's gradient is a partial
// sum where rows are split.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s

// CHECK-LABEL: @serial
func.func @serial(%x: tensor<2x8x16xf32>, %w: tensor<16xf32>, %g: tensor<2x8x16xf32>) {
  // CHECK: nn.rms_norm %{{.*}}, %{{.*}} {epsilon = 1.000000e-05 : f64} : (tensor<2x8x16xf32>, tensor<16xf32>)
  // CHECK-SAME: -> tensor<2x8x16xf32>
  %y = nn.rms_norm %x, %w {epsilon = 1.0e-5 : f64} : (tensor<2x8x16xf32>, tensor<16xf32>) -> tensor<2x8x16xf32>
  // CHECK: nn.rms_norm {{.*}} -> tensor<2x8x16xbf16>
  %z = nn.rms_norm %x, %w {epsilon = 1.0e-5 : f64, element_type = bf16}
      : (tensor<2x8x16xf32>, tensor<16xf32>) -> tensor<2x8x16xbf16>
  // CHECK: nn.rms_norm_grad_input
  %dx = nn.rms_norm_grad_input %g, %x, %w {epsilon = 1.0e-5 : f64}
      : (tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<16xf32>) -> tensor<2x8x16xf32>
  // CHECK: nn.rms_norm_grad_weight {{.*}} -> tensor<16xf32>
  %dw = nn.rms_norm_grad_weight %g, %x {epsilon = 1.0e-5 : f64}
      : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<16xf32>
  return
}

!x = tensor<2x8x16xf32, #dist<dp: S(0), tp: S(1)>>
!w = tensor<16xf32, #dist<dp: R, tp: R>>
module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  // CHECK-LABEL: @rows_may_be_split
  func.func @rows_may_be_split(%x: !x, %w: !w) {
    %y = nn.rms_norm %x, %w {epsilon = 1.0e-5 : f64} : (!x, !w) -> !x
    // CHECK: nn.rms_norm_grad_weight {{.*}} -> tensor<16xf32, #dist<dp: P, tp: P>>
    %dw = nn.rms_norm_grad_weight %y, %x {epsilon = 1.0e-5 : f64} : (!x, !x) -> tensor<16xf32, #dist<dp: P, tp: P>>
    return
  }
}
