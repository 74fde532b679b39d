// Functions of every element; two have a bound.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s

// CHECK-LABEL: @functions
func.func @functions(%x: tensor<2x8xf32>) {
  // CHECK: nn.map gelu_tanh %{{.*}} : tensor<2x8xf32> -> tensor<2x8xf32>
  %0 = nn.map gelu_tanh %x : tensor<2x8xf32> -> tensor<2x8xf32>
  // CHECK: nn.map gelu %
  %1 = nn.map gelu %x : tensor<2x8xf32> -> tensor<2x8xf32>
  // CHECK: nn.map relu %
  %2 = nn.map relu %x : tensor<2x8xf32> -> tensor<2x8xf32>
  // CHECK: nn.map exp %
  %3 = nn.map exp %x : tensor<2x8xf32> -> tensor<2x8xf32>
  // CHECK: nn.map log %
  %4 = nn.map log %x : tensor<2x8xf32> -> tensor<2x8xf32>
  // CHECK: nn.map sqrt %
  %5 = nn.map sqrt %x : tensor<2x8xf32> -> tensor<2x8xf32>
  // CHECK: nn.map reciprocal %
  %6 = nn.map reciprocal %x : tensor<2x8xf32> -> tensor<2x8xf32>
  // CHECK: nn.map clip_factor %{{.*}} {bound = 1.000000e+00 : f64}
  %7 = nn.map clip_factor %x {bound = 1.0 : f64} : tensor<2x8xf32> -> tensor<2x8xf32>
  // CHECK: nn.map rsqrt %{{.*}} {bound = 1.000000e-05 : f64}
  %8 = nn.map rsqrt %x {bound = 1.0e-5 : f64} : tensor<2x8xf32> -> tensor<2x8xf32>
  // CHECK: nn.map silu %
  %9 = nn.map silu %x : tensor<2x8xf32> -> tensor<2x8xf32>
  return
}
