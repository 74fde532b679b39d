// Lanes and columns may be split, rows not; of partial sums it takes partial sums.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  // CHECK-LABEL: @lanes
  func.func @lanes(%x: tensor<2x6x16xf32, #dist<dp: S(0), tp: P>>, %n: tensor<2x4xi32, #dist<dp: S(0), tp: R>>) {
    // CHECK: nn.take {{.*}} -> tensor<2x4x16xf32, #dist<dp: S(0), tp: P>>
    %y = nn.take %x, %n : (tensor<2x6x16xf32, #dist<dp: S(0), tp: P>>, tensor<2x4xi32, #dist<dp: S(0), tp: R>>) -> tensor<2x4x16xf32, #dist<dp: S(0), tp: P>>
    return
  }

  // CHECK-LABEL: @angles_of_rows
  func.func @angles_of_rows(%x: tensor<2x6x4x16xf32>, %c: tensor<2x6x8xf32>) {
    // CHECK: nn.rope {{.*}} : (tensor<2x6x4x16xf32>, tensor<2x6x8xf32>, tensor<2x6x8xf32>) -> tensor<2x6x4x16xf32>
    %y = nn.rope %x, %c, %c : (tensor<2x6x4x16xf32>, tensor<2x6x8xf32>, tensor<2x6x8xf32>) -> tensor<2x6x4x16xf32>
    return
  }
}
