// The columns may be split, the rows not.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  // CHECK-LABEL: @first_rows
  func.func @first_rows(%x: tensor<32x16xf32>) -> tensor<8x16xf32> {
    // CHECK: nn.prefix %{{.*}} rows 8 : tensor<32x16xf32> -> tensor<8x16xf32>
    %y = nn.prefix %x rows 8 : tensor<32x16xf32> -> tensor<8x16xf32>
    return %y : tensor<8x16xf32>
  }

  // CHECK-LABEL: @all_rows
  func.func @all_rows(%x: tensor<32x16xf32>) -> tensor<32x16xf32> {
    // CHECK: nn.prefix %{{.*}} rows 32
    %y = nn.prefix %x rows 32 : tensor<32x16xf32> -> tensor<32x16xf32>
    return %y : tensor<32x16xf32>
  }

  // CHECK-LABEL: @columns_may_be_split
  func.func @columns_may_be_split(%x: tensor<32x16xf32, #dist<tp: S(1)>>) -> tensor<8x16xf32, #dist<tp: S(1)>> {
    // CHECK: nn.prefix %{{.*}} rows 8 : tensor<32x16xf32, #dist<tp: S(1)>> -> tensor<8x16xf32, #dist<tp: S(1)>>
    %y = nn.prefix %x rows 8 : tensor<32x16xf32, #dist<tp: S(1)>> -> tensor<8x16xf32, #dist<tp: S(1)>>
    return %y : tensor<8x16xf32, #dist<tp: S(1)>>
  }
}
