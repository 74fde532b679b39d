// RUN: tessera-opt %s | tessera-opt | FileCheck %s

// CHECK-LABEL: @forward_and_backward
func.func @forward_and_backward(%x: tensor<2x8x16xf32>, %w: tensor<16xf32>, %b: tensor<16xf32>,
    %g: tensor<2x8x16xf32>) {
  // CHECK: nn.layer_norm %{{.*}}, %{{.*}}, %{{.*}} {epsilon = 1.000000e-05 : f64}
  // CHECK-SAME: : (tensor<2x8x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<2x8x16xf32>
  %y = nn.layer_norm %x, %w, %b {epsilon = 1.0e-5 : f64}
      : (tensor<2x8x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<2x8x16xf32>
  // CHECK: nn.layer_norm_grad_input %{{.*}} {epsilon = 1.000000e-05 : f64} : ({{.*}}) -> tensor<2x8x16xf32>
  %dx = nn.layer_norm_grad_input %g, %x, %w {epsilon = 1.0e-5 : f64}
      : (tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<16xf32>) -> tensor<2x8x16xf32>
  // CHECK: nn.layer_norm_grad_weight %{{.*}} {epsilon = 1.000000e-05 : f64} : ({{.*}}) -> tensor<16xf32>
  %dw = nn.layer_norm_grad_weight %g, %x {epsilon = 1.0e-5 : f64}
      : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<16xf32>
  return
}

// The result may be rounded; gradients have the element types of the input and of the weight.
// CHECK-LABEL: @rounded
func.func @rounded(%x: tensor<2x8x16xf32>, %w: tensor<16xf32>, %b: tensor<16xf32>, %g: tensor<2x8x16xbf16>) {
  // CHECK: nn.layer_norm {{.*}} {element_type = bf16, {{.*}}} : {{.*}} -> tensor<2x8x16xbf16>
  %y = nn.layer_norm %x, %w, %b {epsilon = 1.0e-5 : f64, element_type = bf16}
      : (tensor<2x8x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<2x8x16xbf16>
  // CHECK: nn.layer_norm_grad_input {{.*}} -> tensor<2x8x16xf32>
  %dx = nn.layer_norm_grad_input %g, %x, %w {epsilon = 1.0e-5 : f64}
      : (tensor<2x8x16xbf16>, tensor<2x8x16xf32>, tensor<16xf32>) -> tensor<2x8x16xf32>
  // CHECK: nn.layer_norm_grad_weight {{.*}} -> tensor<16xf32>
  %dw = nn.layer_norm_grad_weight %g, %x {epsilon = 1.0e-5 : f64}
      : (tensor<2x8x16xbf16>, tensor<2x8x16xf32>) -> tensor<16xf32>
  return
}
