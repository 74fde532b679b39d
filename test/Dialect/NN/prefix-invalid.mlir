// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @too_many_rows(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{takes 9 rows of 8; it must take at least 1 and at most 8}}
  %y = nn.prefix %x rows 9 : tensor<8x4xf32> -> tensor<9x4xf32>
  return
}

// -----

func.func @no_rows(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{takes 0 rows of 8; it must take at least 1 and at most 8}}
  %y = nn.prefix %x rows 0 : tensor<8x4xf32> -> tensor<1x4xf32>
  return
}

// -----

func.func @not_a_matrix(%x: tensor<8xf32>) {
  // expected-error @+1 {{operand #0 must be matrix of any type values, but got 'tensor<8xf32>'}}
  %y = nn.prefix %x rows 4 : tensor<8xf32> -> tensor<4xf32>
  return
}

// -----

func.func @another_result(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{has result type 'tensor<8x4xf32>', but its operands give 'tensor<4x4xf32>'}}
  %y = nn.prefix %x rows 4 : tensor<8x4xf32> -> tensor<8x4xf32>
  return
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @rows_may_not_be_split(%x: tensor<8x4xf32, #dist<tp: S(0)>>) {
    // expected-error @+2 {{refuses S(0) on axis 'tp'}}
    // expected-note @+1 {{operand 0 shards dimension 0, which this op needs whole: all_gather it first}}
    %y = nn.prefix %x rows 4 : tensor<8x4xf32, #dist<tp: S(0)>> -> tensor<4x4xf32>
    return
  }
}
