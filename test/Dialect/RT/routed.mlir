// Work on routed rows, and an exchange of them.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s

// CHECK-LABEL: @step
func.func @step(%t: tensor<2x8x16xf32>, %l: tensor<2x8x4xf32>, %w: tensor<4x32x16xf32>, %g2: tensor<4x8x2xf32>) {
  // CHECK: rt.routed top_k %{{.*}} {k = 2 : i64, total = 4 : i64} : (tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  %g = rt.routed top_k %l {k = 2 : i64, total = 4 : i64} : (tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  %r = rt.routed dispatch %t, %g {k = 2 : i64, total = 4 : i64, weighted}
      : (tensor<2x8x16xf32>, tensor<2x8x4xf32>) -> tensor<4x2x8x16xf32>
  // CHECK: rt.all_to_all %{{.*}} by %{{.*}} : tensor<4x8x2xf32> from 1 to 0 over ["ep"] : tensor<4x2x8x16xf32>
  // CHECK-SAME: -> tensor<2x4x8x16xf32>
  %s = rt.all_to_all %r by %g2 : tensor<4x8x2xf32> from 1 to 0 over ["ep"]
      : tensor<4x2x8x16xf32> -> tensor<2x4x8x16xf32>
  // CHECK: rt.routed product %{{.*}}, %{{.*}}, %{{.*}} {k = 2 : i64, total = 4 : i64}
  %h = rt.routed product %r, %w, %g {k = 2 : i64, total = 4 : i64}
      : (tensor<4x2x8x16xf32>, tensor<4x32x16xf32>, tensor<2x8x4xf32>) -> tensor<4x2x8x32xf32>
  return
}
