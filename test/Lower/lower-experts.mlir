// Ops on routed rows become calls that know how many of the experts a token goes to.
// RUN: tessera-opt %s --rt-lower-experts | FileCheck %s

// CHECK-LABEL: @step
func.func @step(%t: tensor<2x8x16xf32>, %l: tensor<2x8x4xf32>, %w: tensor<4x32x16xf32>, %dh: tensor<4x2x8x32xf32>)
    -> (tensor<2x8x16xf32>, tensor<4x32x16xf32>, tensor<2x8x4xf32>) {
  // CHECK: %[[G:.*]] = rt.routed top_k %{{.*}} {k = 2 : i64, total = 4 : i64}
  %g = nn.top_k 2 of %l : tensor<2x8x4xf32> -> tensor<2x8x4xf32>
  // CHECK: rt.routed dispatch %{{.*}}, %[[G]] {k = 2 : i64, total = 4 : i64}
  %r = nn.dispatch %t by %g : (tensor<2x8x16xf32>, tensor<2x8x4xf32>) -> tensor<4x2x8x16xf32>
  // CHECK: rt.routed product %{{.*}}, %{{.*}}, %[[G]] {k = 2 : i64, total = 4 : i64}
  // CHECK-SAME: : (tensor<4x2x8x16xf32>, tensor<4x32x16xf32>, tensor<2x8x4xf32>) -> tensor<4x2x8x32xf32>
  %h = nn.expert_linear %r, %w by %g : (tensor<4x2x8x16xf32>, tensor<4x32x16xf32>, tensor<2x8x4xf32>)
      -> tensor<4x2x8x32xf32>
  // CHECK: rt.routed product {{.*}}, transposed}
  %dr = nn.expert_linear %h, %w by %g transposed : (tensor<4x2x8x32xf32>, tensor<4x32x16xf32>, tensor<2x8x4xf32>)
      -> tensor<4x2x8x16xf32>
  // CHECK: rt.routed product_grad_weight
  %dw = nn.expert_linear_grad_weight %dh, %r by %g : (tensor<4x2x8x32xf32>, tensor<4x2x8x16xf32>, tensor<2x8x4xf32>)
      -> tensor<4x32x16xf32>
  // CHECK: rt.routed collect %{{.*}}, %[[G]] {k = 2 : i64, total = 4 : i64, weighted}
  %y = nn.collect %dr by %g weighted : (tensor<4x2x8x16xf32>, tensor<2x8x4xf32>) -> tensor<2x8x16xf32>
  // CHECK: rt.routed collect_grad_gates
  %dg = nn.collect_grad_gates %t, %dr by %g : (tensor<2x8x16xf32>, tensor<4x2x8x16xf32>, tensor<2x8x4xf32>)
      -> tensor<2x8x4xf32>
  return %y, %dw, %dg : tensor<2x8x16xf32>, tensor<4x32x16xf32>, tensor<2x8x4xf32>
}

// A product of integers takes their scales.
// CHECK-LABEL: @generates
func.func @generates(%r: tensor<4x2x8x16xf32>, %w: tensor<4x32x16xi8>, %s: tensor<4x32xf32>, %g: tensor<2x8x4xf32>)
    -> tensor<4x2x8x32xf32> {
  // CHECK: rt.routed product %arg0, %arg1, %arg2, %arg3
  // CHECK-SAME: : (tensor<4x2x8x16xf32>, tensor<4x32x16xi8>, tensor<4x32xf32>, tensor<2x8x4xf32>) -> tensor<4x2x8x32xf32>
  %h = nn.expert_linear %r, %w, %s by %g
      : (tensor<4x2x8x16xf32>, tensor<4x32x16xi8>, tensor<4x32xf32>, tensor<2x8x4xf32>) -> tensor<4x2x8x32xf32>
  return %h : tensor<4x2x8x32xf32>
}
