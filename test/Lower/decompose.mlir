// Norms become products, sums and row means; a sum to a scalar runs over rows first.
// RUN: tessera-opt %s --rt-decompose | FileCheck %s --implicit-check-not=nn.layer_norm --implicit-check-not=nn.rms_norm

!x = tensor<4x8xf32>
!w = tensor<8xf32>

// (x - mean) rstd weight + bias, in the precision of x, rounded once.
// CHECK-LABEL: @forward
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<8xf32>
func.func @forward(%x: !x, %w: !w, %b: !w) -> tensor<4x8xbf16> {
  // CHECK-NEXT: %[[MEAN:.*]] = nn.einsum "ab->a" %[[X]] {nn.phase = #nn.phase<forward>, scale = 1.250000e-01 : f64}
  // CHECK-NEXT: %[[C:.*]] = nn.add "ab,a->ab" %[[X]], %[[MEAN]] {coefs = array<f64: 1.000000e+00, -1.000000e+00>
  // CHECK-NEXT: %[[VAR:.*]] = nn.einsum "ab,ab->a" %[[C]], %[[C]] {nn.phase = #nn.phase<forward>,
  // CHECK-SAME: scale = 1.250000e-01 : f64}
  // CHECK-NEXT: %[[RSTD:.*]] = nn.map rsqrt %[[VAR]] {bound = 1.000000e-03 : f64
  // CHECK: %[[N:.*]] = nn.einsum "ab,a->ab" %{{.*}}, %[[RSTD]]
  // CHECK-NEXT: %[[S:.*]] = nn.einsum "ab,b->ab" %[[N]], %[[W]]
  // CHECK-NEXT: %[[Y:.*]] = nn.add "ab,b->ab" %[[S]], %[[B]]
  // CHECK-NEXT: %[[ROUNDED:.*]] = nn.cast %[[Y]] to bf16 {nn.phase = #nn.phase<forward>, rt.keep = [{name = "y"}]}
  // CHECK-NEXT: return %[[ROUNDED]]
  %y = nn.layer_norm %x, %w, %b {epsilon = 1.0e-3 : f64, element_type = bf16, nn.phase = #nn.phase<forward>,
      rt.keep = [{name = "y"}]} : (!x, !w, !w) -> tensor<4x8xbf16>
  return %y : tensor<4x8xbf16>
}

// Forward and backward share mean and rstd of a value.
// CHECK-LABEL: @statistics_are_shared
func.func @statistics_are_shared(%x: !x, %w: !w, %b: !w, %g: !x) -> (!x, !x, !w) {
  // CHECK-COUNT-1: nn.map rsqrt
  // CHECK-NOT: nn.map rsqrt
  %y = nn.layer_norm %x, %w, %b {epsilon = 1.0e-3 : f64} : (!x, !w, !w) -> !x
  %dx = nn.layer_norm_grad_input %g, %x, %w {epsilon = 1.0e-3 : f64} : (!x, !x, !w) -> !x
  // CHECK: nn.einsum "ab,ab->b"
  %dw = nn.layer_norm_grad_weight %g, %x {epsilon = 1.0e-3 : f64} : (!x, !x) -> !w
  // CHECK: return
  return %y, %dx, %dw : !x, !x, !w
}

// CHECK-LABEL: @another_epsilon_is_another_norm
func.func @another_epsilon_is_another_norm(%x: !x, %w: !w, %b: !w) -> (!x, !x) {
  // CHECK-COUNT-2: nn.map rsqrt
  %y = nn.layer_norm %x, %w, %b {epsilon = 1.0e-3 : f64} : (!x, !w, !w) -> !x
  %z = nn.layer_norm %x, %w, %b {epsilon = 1.0e-5 : f64} : (!x, !w, !w) -> !x
  return %y, %z : !x, !x
}

// x / rms weight: no mean is taken off, and forward and backward share 1 / rms.
// CHECK-LABEL: @root_mean_square
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<8xf32>
func.func @root_mean_square(%x: !x, %w: !w, %g: !x) -> (!x, !x, !w) {
  // CHECK-NEXT: %[[SQUARE:.*]] = nn.einsum "ab,ab->a" %[[X]], %[[X]] {scale = 1.250000e-01 : f64}
  // CHECK-NEXT: %[[R:.*]] = nn.map rsqrt %[[SQUARE]] {bound = 1.000000e-03 : f64}
  // CHECK-NEXT: %[[N:.*]] = nn.einsum "ab,a->ab" %[[X]], %[[R]]
  // CHECK-NEXT: nn.einsum "ab,b->ab" %[[N]], %[[W]]
  // CHECK-NOT: nn.map rsqrt
  %y = nn.rms_norm %x, %w {epsilon = 1.0e-3 : f64} : (!x, !w) -> !x
  // CHECK: nn.add "ab,ab->ab" %{{.*}}, %{{.*}} {coefs = array<f64: 1.000000e+00, -1.000000e+00>}
  %dx = nn.rms_norm_grad_input %g, %x, %w {epsilon = 1.0e-3 : f64} : (!x, !x, !w) -> !x
  // CHECK: nn.einsum "ab,ab->b"
  %dw = nn.rms_norm_grad_weight %g, %x {epsilon = 1.0e-3 : f64} : (!x, !x) -> !w
  return %y, %dx, %dw : !x, !x, !w
}

// The two norms of one value share nothing.
// CHECK-LABEL: @both_norms
func.func @both_norms(%x: !x, %w: !w, %b: !w) -> (!x, !x, !x) {
  // CHECK-COUNT-2: nn.map rsqrt
  %y = nn.rms_norm %x, %w {epsilon = 1.0e-3 : f64} : (!x, !w) -> !x
  %z = nn.layer_norm %x, %w, %b {epsilon = 1.0e-3 : f64} : (!x, !w, !w) -> !x
  %dx = nn.rms_norm_grad_input %z, %x, %w {epsilon = 1.0e-3 : f64} : (!x, !x, !w) -> !x
  // CHECK-NOT: nn.map rsqrt
  return %y, %z, %dx : !x, !x, !x
}

// A sum of one term is that term.
// CHECK-LABEL: @branch
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>
func.func @branch(%x: !x) -> (!x, !x) {
  // CHECK-NEXT: %[[TWICE:.*]] = nn.add "ab->ab" %[[X]] {coefs = array<f64: 2.000000e+00>}
  // CHECK-NEXT: return %[[X]], %[[TWICE]]
  %y = nn.add "ab->ab" %x : (!x) -> !x
  %z = nn.add "ab->ab" %x {coefs = array<f64: 2.0>} : (!x) -> !x
  return %y, %z : !x, !x
}

// CHECK-LABEL: @sum_of_squares
func.func @sum_of_squares(%x: !x) -> tensor<f32> {
  // CHECK-NEXT: %[[ROWS:.*]] = nn.einsum "ab,ab->a" %{{.*}} {scale = 2.000000e+00 : f64}
  // CHECK-SAME: : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4xf32>
  // CHECK-NEXT: nn.einsum "a->" %[[ROWS]] : (tensor<4xf32>) -> tensor<f32>
  %s = nn.einsum "ab,ab->" %x, %x {scale = 2.0 : f64} : (!x, !x) -> tensor<f32>
  return %s : tensor<f32>
}

// CHECK-LABEL: @sum_of_a_vector_stays
func.func @sum_of_a_vector_stays(%x: !w) -> tensor<f32> {
  // CHECK-NEXT: nn.einsum "a->" %{{.*}} : (tensor<8xf32>) -> tensor<f32>
  // CHECK-NEXT: return
  %s = nn.einsum "a->" %x : (!w) -> tensor<f32>
  return %s : tensor<f32>
}
