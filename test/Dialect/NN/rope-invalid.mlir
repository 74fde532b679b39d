// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @angle_per_element(%x: tensor<2x8x4x16xf32>, %c: tensor<8x16xf32>) {
  // expected-error @+1 {{rotates heads of size 16 by 16 angles; it needs half as many angles as elements}}
  %y = nn.rope %x, %c, %c : (tensor<2x8x4x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

func.func @angles_of_another_sequence(%x: tensor<2x8x4x16xf32>, %c: tensor<4x8xf32>) {
  // expected-error @+1 {{sizes 8 and 4 of factor 's' differ}}
  %y = nn.rope %x, %c, %c : (tensor<2x8x4x16xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

func.func @no_heads(%x: tensor<2x8x16xf32>, %c: tensor<8x8xf32>) {
  // expected-error @+1 {{operand #0 must be tensor [batch, sequence, heads, head size], or with groups of heads}}
  %y = nn.rope %x, %c, %c : (tensor<2x8x16xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<2x8x16xf32>
  return
}

// -----

// Every rank would turn its slice by the angles of the first positions.
module attributes {dist.mesh = #dist.mesh<cp = 2>} {
  func.func @local_positions(%x: tensor<2x8x4x16xf32, #dist<cp: S(1)>>, %c: tensor<8x8xf32, #dist<cp: R>>) {
    // expected-error @+2 {{refuses S(1), R, R on axis 'cp'}}
    // expected-note @+1 {{only one factor may be sharded, alike in all operands}}
    %y = nn.rope %x, %c, %c
        : (tensor<2x8x4x16xf32, #dist<cp: S(1)>>, tensor<8x8xf32, #dist<cp: R>>, tensor<8x8xf32, #dist<cp: R>>)
        -> tensor<2x8x4x16xf32, #dist<cp: S(1)>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @halves_of_heads(%x: tensor<2x8x4x16xf32, #dist<tp: S(3)>>, %c: tensor<8x8xf32, #dist<tp: R>>) {
    // expected-error @+2 {{refuses S(3), R, R on axis 'tp'}}
    // expected-note @+1 {{operand 0 shards dimension 3, which this op needs whole: all_gather it first}}
    %y = nn.rope %x, %c, %c
        : (tensor<2x8x4x16xf32, #dist<tp: S(3)>>, tensor<8x8xf32, #dist<tp: R>>, tensor<8x8xf32, #dist<tp: R>>)
        -> tensor<2x8x4x16xf32, #dist<tp: S(3)>>
    return
  }
}
