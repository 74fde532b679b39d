// RUN: tessera-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: @first_rows
func.func @first_rows(%x: tensor<32x16xf32>) -> tensor<8x16xf32> {
  // CHECK: nn.prefix %{{.*}} rows 8 : tensor<32x16xf32> -> tensor<8x16xf32>
  %y = nn.prefix %x rows 8 : tensor<32x16xf32> -> tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}

// -----

func.func @too_many_rows(%x: tensor<4x16xf32>) -> tensor<8x16xf32> {
  // expected-error @+1 {{takes 8 rows of 4; it must take at least 1 and at most 4}}
  %y = nn.prefix %x rows 8 : tensor<4x16xf32> -> tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  // CHECK-LABEL: @columns_may_be_split
  func.func @columns_may_be_split(%x: tensor<32x16xf32, #dist<tp: S(1)>>) -> tensor<8x16xf32, #dist<tp: S(1)>> {
    // CHECK: nn.prefix
    %y = nn.prefix %x rows 8 : tensor<32x16xf32, #dist<tp: S(1)>> -> tensor<8x16xf32, #dist<tp: S(1)>>
    return %y : tensor<8x16xf32, #dist<tp: S(1)>>
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @rows_may_not(%x: tensor<32x16xf32, #dist<tp: S(0)>>) -> tensor<8x16xf32> {
    // expected-error @+2 {{refuses S(0) on axis 'tp'}}
    // expected-note @+1 {{only one factor may be sharded}}
    %y = nn.prefix %x rows 8 : tensor<32x16xf32, #dist<tp: S(0)>> -> tensor<8x16xf32>
    return %y : tensor<8x16xf32>
  }
}
