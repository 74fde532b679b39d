// RUN: tessera-opt %s -split-input-file -verify-diagnostics

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @rows_may_not_be_split(%x: tensor<2x6x16xf32, #dist<tp: S(1)>>, %n: tensor<2x4xi32, #dist<tp: R>>) {
    // expected-error @+2 {{refuses S(1), R on axis 'tp'}}
    // expected-note @+1 {{operand 0 shards dimension 1, which this op needs whole: all_gather it first}}
    %y = nn.take %x, %n : (tensor<2x6x16xf32, #dist<tp: S(1)>>, tensor<2x4xi32, #dist<tp: R>>) -> tensor<2x4x16xf32>
    return
  }
}

// -----

func.func @other_lanes(%x: tensor<2x6x16xf32>, %n: tensor<3x4xi32>) {
  // expected-error @+1 {{factor 'b'}}
  %y = nn.take %x, %n : (tensor<2x6x16xf32>, tensor<3x4xi32>) -> tensor<2x4x16xf32>
  return
}
