// Rotations are linear in what they turn; angles of a split sequence are split as it is.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s

// CHECK-LABEL: @heads
func.func @heads(%x: tensor<2x8x4x16xf32>, %q: tensor<2x8x4x3x16xf32>, %c: tensor<8x8xf32>, %z: tensor<8x8xf32>) {
  // CHECK: nn.rope %{{.*}}, %{{.*}}, %{{.*}} : (tensor<2x8x4x16xf32>, tensor<8x8xf32>, tensor<8x8xf32>)
  // CHECK-SAME: -> tensor<2x8x4x16xf32>
  %y = nn.rope %x, %c, %z : (tensor<2x8x4x16xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<2x8x4x16xf32>
  // CHECK: nn.rope {{.*}} {inverse} : (tensor<2x8x4x3x16xf32>
  %r = nn.rope %q, %c, %z {inverse}
      : (tensor<2x8x4x3x16xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<2x8x4x3x16xf32>
  return
}

!x = tensor<2x8x4x16xf32, #dist<cp: S(1), tp: P>>
!angles = tensor<8x8xf32, #dist<cp: S(0), tp: R>>
module attributes {dist.mesh = #dist.mesh<cp = 2, tp = 2>} {
  // CHECK-LABEL: @split_sequence_and_addends
  func.func @split_sequence_and_addends(%x: !x, %c: !angles, %z: !angles) {
    // CHECK: nn.rope {{.*}} -> tensor<2x8x4x16xf32, #dist<cp: S(1), tp: P>>
    %y = nn.rope %x, %c, %z : (!x, !angles, !angles) -> !x
    return
  }
}
