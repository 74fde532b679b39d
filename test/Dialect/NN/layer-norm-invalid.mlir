// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @nothing_to_normalize(%x: tensor<f32>, %w: tensor<16xf32>, %b: tensor<16xf32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor with at least 1 dimension of any type values, but got 'tensor<f32>'}}
  %y = nn.layer_norm %x, %w, %b {epsilon = 1.0e-5 : f64} : (tensor<f32>, tensor<16xf32>, tensor<16xf32>) -> tensor<f32>
  return
}

// -----

func.func @weight_of_another_size(%x: tensor<2x8x16xf32>, %w: tensor<8xf32>, %b: tensor<16xf32>) {
  // expected-error @+1 {{sizes 16 and 8 of factor 'c' differ}}
  %y = nn.layer_norm %x, %w, %b {epsilon = 1.0e-5 : f64}
      : (tensor<2x8x16xf32>, tensor<8xf32>, tensor<16xf32>) -> tensor<2x8x16xf32>
  return
}

// -----

func.func @result_is_rounded_silently(%x: tensor<2x8x16xf32>, %w: tensor<16xf32>, %b: tensor<16xf32>) {
  // expected-error @+1 {{has result type 'tensor<2x8x16xbf16>', but its operands give 'tensor<2x8x16xf32>'}}
  %y = nn.layer_norm %x, %w, %b {epsilon = 1.0e-5 : f64}
      : (tensor<2x8x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<2x8x16xbf16>
  return
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @normalized_dimension_is_split(%x: tensor<2x8x16xf32, #dist<tp: S(2)>>,
      %w: tensor<16xf32, #dist<tp: S(0)>>, %b: tensor<16xf32, #dist<tp: S(0)>>) {
    // expected-error @+2 {{refuses S(2), S(0), S(0) on axis 'tp'}}
    // expected-note @+1 {{operand 0 shards dimension 2, which this op needs whole: all_gather it first}}
    %y = nn.layer_norm %x, %w, %b {epsilon = 1.0e-5 : f64}
        : (tensor<2x8x16xf32, #dist<tp: S(2)>>, tensor<16xf32, #dist<tp: S(0)>>, tensor<16xf32, #dist<tp: S(0)>>)
        -> tensor<2x8x16xf32, #dist<tp: S(2)>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @weights_did_not_enter(%x: tensor<2x8x16xf32, #dist<tp: S(1)>>, %w: tensor<16xf32>, %b: tensor<16xf32>) {
    // expected-error @+2 {{refuses S(1), I, I on axis 'tp'}}
    // expected-note @+1 {{an I operand stands next to a varying one: enter or slice it first}}
    %y = nn.layer_norm %x, %w, %b {epsilon = 1.0e-5 : f64}
        : (tensor<2x8x16xf32, #dist<tp: S(1)>>, tensor<16xf32>, tensor<16xf32>) -> tensor<2x8x16xf32, #dist<tp: S(1)>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @nonlinear_in_the_input(%x: tensor<2x8x16xf32, #dist<tp: P>>, %w: tensor<16xf32, #dist<tp: R>>,
      %b: tensor<16xf32, #dist<tp: R>>) {
    // expected-error @+2 {{refuses P, R, R on axis 'tp'}}
    // expected-note @+1 {{reduce the partial operand first (all_reduce, reduce_scatter)}}
    %y = nn.layer_norm %x, %w, %b {epsilon = 1.0e-5 : f64}
        : (tensor<2x8x16xf32, #dist<tp: P>>, tensor<16xf32, #dist<tp: R>>, tensor<16xf32, #dist<tp: R>>)
        -> tensor<2x8x16xf32, #dist<tp: P>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @weight_partial_alone(%x: tensor<2x8x16xf32, #dist<tp: R>>, %w: tensor<16xf32, #dist<tp: P>>,
      %b: tensor<16xf32, #dist<tp: R>>) {
    // expected-error @+2 {{refuses R, P, R on axis 'tp'}}
    // expected-note @+1 {{reduce the partial operand first (all_reduce, reduce_scatter)}}
    %y = nn.layer_norm %x, %w, %b {epsilon = 1.0e-5 : f64}
        : (tensor<2x8x16xf32, #dist<tp: R>>, tensor<16xf32, #dist<tp: P>>, tensor<16xf32, #dist<tp: R>>)
        -> tensor<2x8x16xf32, #dist<tp: P>>
    return
  }
}
