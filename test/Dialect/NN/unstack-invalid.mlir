// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @no_such_dimension(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{cannot cut a tensor of rank 2 along dimension 2; use one from 0 to 1}}
  %y0, %y1 = nn.unstack %x along 2 : tensor<2x3xf32> -> tensor<3xf32>, tensor<3xf32>
  return
}

// -----

func.func @negative_dimension(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{cannot cut a tensor of rank 2 along dimension -1; use one from 0 to 1}}
  %y0, %y1 = nn.unstack %x along -1 : tensor<2x3xf32> -> tensor<3xf32>, tensor<3xf32>
  return
}

// -----

func.func @result_is_missing(%x: tensor<3x8xf32>) {
  // expected-error @+1 {{has 2 results, but dimension 0 has size 3}}
  %y0, %y1 = nn.unstack %x along 0 : tensor<3x8xf32> -> tensor<8xf32>, tensor<8xf32>
  return
}

// -----

func.func @slices_have_another_shape(%x: tensor<2x8xf32>) {
  // expected-error @+1 {{has result type 'tensor<4xf32>', but its operands give 'tensor<8xf32>'}}
  %y0, %y1 = nn.unstack %x along 0 : tensor<2x8xf32> -> tensor<4xf32>, tensor<4xf32>
  return
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @cuts_along_a_sharded_dimension(%x: tensor<2x8xf32, #dist<tp: S(0)>>) {
    // expected-error @+2 {{refuses S(0) on axis 'tp'}}
    // expected-note @+1 {{operand 0 shards dimension 0, which this op needs whole: all_gather it first}}
    %y0, %y1 = nn.unstack %x along 0 : tensor<2x8xf32, #dist<tp: S(0)>> -> tensor<8xf32>, tensor<8xf32>
    return
  }
}
