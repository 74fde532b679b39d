// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @halves(%x: tensor<1x4x61xbf16>) {
  // expected-error @+1 {{has logits of 'bf16'; they must be f32 or f64}}
  %y = nn.top %x {count = 5 : i64} : (tensor<1x4x61xbf16>) -> tensor<1x4x5x2xbf16>
  return
}

// -----

func.func @large_vocabulary(%x: tensor<1x4x16777217xf32>) {
  // expected-error @+1 {{has a vocabulary of 16777217; at most 16777216 indices are exact in f32}}
  %y = nn.top %x {count = 5 : i64} : (tensor<1x4x16777217xf32>) -> tensor<1x4x5x2xf32>
  return
}

// -----

func.func @no_candidates(%x: tensor<1x4x61xf32>) {
  // expected-error @+1 {{attribute 'count' failed to satisfy constraint}}
  %y = nn.top %x {count = 0 : i64} : (tensor<1x4x61xf32>) -> tensor<1x4x0x2xf32>
  return
}

// -----

func.func @seeds_alone(%x: tensor<1x4x61xf32>, %n: tensor<1x4xf32>, %d: tensor<1x4x2xi32>) {
  // expected-error @+1 {{has draws of type 'tensor<1x4x2xi32>'; the last dimension must be 3: the halves of a seed, and a position}}
  %y = nn.top %x draw %n, %d {count = 1 : i64} : (tensor<1x4x61xf32>, tensor<1x4xf32>, tensor<1x4x2xi32>) -> tensor<1x4x1x3xf32>
  return
}

// -----

// Candidates of some ranks are no values.
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @candidates_of_parts(%x: tensor<1x5x2xf32, #dist<tp: C>>) {
    // expected-error @+2 {{refuses C on axis 'tp'}}
    // expected-note @+1 {{merge the candidates first (all_reduce_top)}}
    %z = nn.map exp %x : tensor<1x5x2xf32, #dist<tp: C>> -> tensor<1x5x2xf32, #dist<tp: C>>
    return
  }
}

// -----

// A list has values and indices.
// expected-error @+1 {{axis 'tp' has candidates of 'f32' in a tensor of rank 1; they are lists of floating-point numbers, each a value and an index}}
func.func @numbers(%x: tensor<5xf32, #dist<tp: C>>) {
  return
}
