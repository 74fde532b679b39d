// Scale factors are applied after the reduction; the module says in how many chunks sums are made.
// RUN: tessera-opt %s --nn-fix-order=chunks=4 | FileCheck %s
// RUN: not tessera-opt %s --nn-fix-order=chunks=6 2>&1 | FileCheck %s --check-prefix=ODD

// CHECK: module attributes {dist.layout_invariant = 4 : i64}
// ODD: error: cannot add 6 chunks as a balanced tree; use a power of 2, e.g. 8
module {
  // CHECK-LABEL: @mean
  // CHECK: %[[SUM:.*]] = nn.einsum "bs->" %arg0 : (tensor<2x8xf32>) -> tensor<f32>
  // CHECK: nn.einsum "->" %[[SUM]] {nn.tag = #nn.tag<stream>, scale = 1.000000e-01 : f64}
  func.func @mean(%x: tensor<2x8xf32>) -> tensor<f32> {
    %y = nn.einsum "bs->" %x {scale = 1.0e-01 : f64, nn.tag = #nn.tag<stream>} : (tensor<2x8xf32>) -> tensor<f32>
    return %y : tensor<f32>
  }
  // CHECK-LABEL: @scaled
  // CHECK: nn.einsum "bs->bs" %arg0 {scale = 1.000000e-01 : f64}
  // CHECK-NEXT: return
  func.func @scaled(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
    %y = nn.einsum "bs->bs" %x {scale = 1.0e-01 : f64} : (tensor<2x8xf32>) -> tensor<2x8xf32>
    return %y : tensor<2x8xf32>
  }
}
