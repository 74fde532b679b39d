// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @another_type(%c: tensor<1x4x16x2x8xbf16>, %r: tensor<1x6x2x8xf32>, %s: tensor<1x6xi32>) {
  // expected-error @+1 {{appends rows of 'f32' to a cache of 'bf16'; both must be of one type}}
  %y = nn.append %c, %r at %s, %s : (tensor<1x4x16x2x8xbf16>, tensor<1x6x2x8xf32>, tensor<1x6xi32>, tensor<1x6xi32>) -> tensor<1x4x16x2x8xbf16>
  return
}

// -----

func.func @groups(%c: tensor<1x4x16x2x8xf32>, %r: tensor<1x6x2x3x8xf32>, %s: tensor<1x6xi32>) {
  // expected-error @+1 {{has rows of rank 5; it must be 4: lanes, rows, heads, head size}}
  %y = nn.append %c, %r at %s, %s : (tensor<1x4x16x2x8xf32>, tensor<1x6x2x3x8xf32>, tensor<1x6xi32>, tensor<1x6xi32>) -> tensor<1x4x16x2x8xf32>
  return
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @slots(%c: tensor<1x4x16x2x8xf32, #dist<tp: S(1)>>, %r: tensor<1x6x2x8xf32, #dist<tp: R>>, %s: tensor<1x6xi32, #dist<tp: R>>) {
    // expected-error @+2 {{refuses S(1), R, R, R on axis 'tp'}}
    // expected-note @+1 {{operand 0 shards dimension 1, which this op needs whole: all_gather it first}}
    %y = nn.append %c, %r at %s, %s : (tensor<1x4x16x2x8xf32, #dist<tp: S(1)>>, tensor<1x6x2x8xf32, #dist<tp: R>>, tensor<1x6xi32, #dist<tp: R>>, tensor<1x6xi32, #dist<tp: R>>) -> tensor<1x4x16x2x8xf32, #dist<tp: S(1)>>
    return
  }
}

// -----

// Rows of this rank's heads do not belong in a cache of all heads.
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @heads_of_rows_alone(%c: tensor<1x4x16x2x8xf32>, %r: tensor<1x6x2x8xf32, #dist<tp: S(2)>>, %s: tensor<1x6xi32, #dist<tp: R>>) {
    // expected-error @+2 {{refuses I, S(2), R, R on axis 'tp'}}
    // expected-note @+1 {{}}
    %y = nn.append %c, %r at %s, %s : (tensor<1x4x16x2x8xf32>, tensor<1x6x2x8xf32, #dist<tp: S(2)>>, tensor<1x6xi32, #dist<tp: R>>, tensor<1x6xi32, #dist<tp: R>>) -> tensor<1x4x16x2x8xf32>
    return
  }
}

// -----

func.func @dealt_to_nobody(%c: tensor<1x4x16x2x8xf32>, %r: tensor<1x6x2x8xf32>, %s: tensor<1x6xi32>) {
  // expected-error @+1 {{attribute 'deal' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %y = nn.append %c, %r at %s, %s {deal = 0 : i64} : (tensor<1x4x16x2x8xf32>, tensor<1x6x2x8xf32>, tensor<1x6xi32>, tensor<1x6xi32>) -> tensor<1x4x16x2x8xf32>
  return
}
