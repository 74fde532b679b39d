// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @negative_window(%q: tensor<1x6x2x8xf32>, %k: tensor<1x4x16x2x8xf32>, %s: tensor<1x6xi32>) {
  // expected-error @+1 {{has window = -1; it must be at least 1, or absent}}
  %y = nn.cached_attention %q, %k, %k at %s, %s <causal, scale = 1.0, window = -1> : (tensor<1x6x2x8xf32>, tensor<1x4x16x2x8xf32>, tensor<1x4x16x2x8xf32>, tensor<1x6xi32>, tensor<1x6xi32>) -> tensor<1x6x2x8xf32>
  return
}

// -----

func.func @other_values(%q: tensor<1x6x2x8xf32>, %k: tensor<1x4x16x2x8xf32>, %v: tensor<1x4x12x2x8xf32>, %s: tensor<1x6xi32>) {
  // expected-error @+1 {{has keys of type 'tensor<1x4x16x2x8xf32>' and values of type 'tensor<1x4x12x2x8xf32>'; both must have one shape}}
  %y = nn.cached_attention %q, %k, %v at %s, %s <causal, scale = 1.0> : (tensor<1x6x2x8xf32>, tensor<1x4x16x2x8xf32>, tensor<1x4x12x2x8xf32>, tensor<1x6xi32>, tensor<1x6xi32>) -> tensor<1x6x2x8xf32>
  return
}

// -----

// A rank's query heads do not read another rank's keys.
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @whole_query(%q: tensor<1x6x2x8xf32, #dist<tp: R>>, %k: tensor<1x4x16x2x8xf32, #dist<tp: S(3)>>, %s: tensor<1x6xi32, #dist<tp: R>>) {
    // expected-error @+2 {{refuses R, S(3), S(3), R, R on axis 'tp'}}
    // expected-note @+1 {{}}
    %y = nn.cached_attention %q, %k, %k at %s, %s <causal, scale = 1.0> : (tensor<1x6x2x8xf32, #dist<tp: R>>, tensor<1x4x16x2x8xf32, #dist<tp: S(3)>>, tensor<1x4x16x2x8xf32, #dist<tp: S(3)>>, tensor<1x6xi32, #dist<tp: R>>, tensor<1x6xi32, #dist<tp: R>>) -> tensor<1x6x2x8xf32, #dist<tp: S(2)>>
    return
  }
}

// -----

// Means over some places are no values.
module attributes {dist.mesh = #dist.mesh<cp = 2>} {
  func.func @means_of_parts(%x: tensor<1x6x16xf32, #dist<cp: L>>, %y: tensor<1x6x16xf32, #dist<cp: R>>) {
    // expected-error @+2 {{refuses L, R on axis 'cp'}}
    // expected-note @+1 {{merge the partial means first (all_reduce_mean, reduce_scatter_mean)}}
    %z = nn.add "bsh,bsh->bsh" %x, %y : (tensor<1x6x16xf32, #dist<cp: L>>, tensor<1x6x16xf32, #dist<cp: R>>) -> tensor<1x6x16xf32, #dist<cp: L>>
    return
  }
}

// -----

func.func @distance_without_table(%q: tensor<1x6x2x8xf32>, %k: tensor<1x4x16x2x8xf32>, %s: tensor<1x6xi32>) {
  // expected-error @+1 {{has max_distance = 9 but no table of biases; give both or none}}
  %y = nn.cached_attention %q, %k, %k at %s, %s <causal, scale = 1.0, max_distance = 9> : (tensor<1x6x2x8xf32>, tensor<1x4x16x2x8xf32>, tensor<1x4x16x2x8xf32>, tensor<1x6xi32>, tensor<1x6xi32>) -> tensor<1x6x2x8xf32>
  return
}

// -----

func.func @biases_of_a_source(%q: tensor<1x6x2x8xf32>, %k: tensor<1x4x16x2x8xf32>, %s: tensor<1x6xi32>, %b: tensor<8x2xf32>) {
  // expected-error @+1 {{adds biases by distance but is not causal; a row reads no keys after it}}
  %y = nn.cached_attention %q, %k, %k at %s, %s bias %b <scale = 1.0, max_distance = 9> : (tensor<1x6x2x8xf32>, tensor<1x4x16x2x8xf32>, tensor<1x4x16x2x8xf32>, tensor<1x6xi32>, tensor<1x6xi32>, tensor<8x2xf32>) -> tensor<1x6x2x8xf32>
  return
}

// -----

func.func @few_distances(%q: tensor<1x6x2x8xf32>, %k: tensor<1x4x16x2x8xf32>, %s: tensor<1x6xi32>, %b: tensor<8x2xf32>) {
  // expected-error @+1 {{has 8 buckets to distance 4; it needs at least 2 and a distance above 4}}
  %y = nn.cached_attention %q, %k, %k at %s, %s bias %b <causal, scale = 1.0, max_distance = 4> : (tensor<1x6x2x8xf32>, tensor<1x4x16x2x8xf32>, tensor<1x4x16x2x8xf32>, tensor<1x6xi32>, tensor<1x6xi32>, tensor<8x2xf32>) -> tensor<1x6x2x8xf32>
  return
}

// -----

func.func @heads_in_groups(%q: tensor<1x6x2x3x8xf32>, %k: tensor<1x4x16x2x8xf32>, %s: tensor<1x6xi32>, %b: tensor<8x2xf32>) {
  // expected-error @+1 {{it must be [buckets, heads], and heads must not be in groups}}
  %y = nn.cached_attention %q, %k, %k at %s, %s bias %b <causal, scale = 1.0, max_distance = 9> : (tensor<1x6x2x3x8xf32>, tensor<1x4x16x2x8xf32>, tensor<1x4x16x2x8xf32>, tensor<1x6xi32>, tensor<1x6xi32>, tensor<8x2xf32>) -> tensor<1x6x2x3x8xf32>
  return
}

// -----

func.func @other_head_size(%q: tensor<1x6x2x8xf32>, %k: tensor<1x4x16x2x4xf32>, %s: tensor<1x6xi32>) {
  // expected-error @+1 {{sizes 8 and 4 of factor 'd' differ}}
  %y = nn.cached_attention %q, %k, %k at %s, %s <causal, scale = 1.0> : (tensor<1x6x2x8xf32>, tensor<1x4x16x2x4xf32>, tensor<1x4x16x2x4xf32>, tensor<1x6xi32>, tensor<1x6xi32>) -> tensor<1x6x2x4xf32>
  return
}

// -----

func.func @other_rows(%q: tensor<1x6x2x8xf32>, %k: tensor<1x4x16x2x8xf32>, %s: tensor<1x6xi32>, %p: tensor<1x5xi32>) {
  // expected-error @+1 {{sizes 6 and 5 of factor 's' differ}}
  %y = nn.cached_attention %q, %k, %k at %s, %p <causal, scale = 1.0> : (tensor<1x6x2x8xf32>, tensor<1x4x16x2x8xf32>, tensor<1x4x16x2x8xf32>, tensor<1x6xi32>, tensor<1x5xi32>) -> tensor<1x6x2x8xf32>
  return
}

// -----

func.func @rounded_cache(%q: tensor<1x6x2x8xf32>, %k: tensor<1x4x16x2x8xbf16>, %s: tensor<1x6xi32>) {
  // expected-error @+1 {{has queries of 'f32' but keys of 'bf16'; cast them to one type}}
  %y = nn.cached_attention %q, %k, %k at %s, %s <causal, scale = 1.0> : (tensor<1x6x2x8xf32>, tensor<1x4x16x2x8xbf16>, tensor<1x4x16x2x8xbf16>, tensor<1x6xi32>, tensor<1x6xi32>) -> tensor<1x6x2x8xf32>
  return
}
