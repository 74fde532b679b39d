// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @nothing_to_normalize(%g: tensor<f32>, %x: tensor<f32>) {
  // expected-error @+1 {{operand #1 must be ranked tensor with at least 1 dimension}}
  %y = nn.layer_norm_grad_weight %g, %x {epsilon = 1.0e-5 : f64} : (tensor<f32>, tensor<f32>) -> tensor<16xf32>
  return
}

// -----

func.func @gradient_of_another_shape(%g: tensor<2x4x16xf32>, %x: tensor<2x8x16xf32>) {
  // expected-error @+1 {{sizes 4 and 8 of factor 'b' differ}}
  %y = nn.layer_norm_grad_weight %g, %x {epsilon = 1.0e-5 : f64}
      : (tensor<2x4x16xf32>, tensor<2x8x16xf32>) -> tensor<16xf32>
  return
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2>} {
  func.func @sum_over_a_split_batch_is_partial(%g: tensor<2x8x16xf32, #dist<dp: S(0)>>,
      %x: tensor<2x8x16xf32, #dist<dp: S(0)>>) {
    // expected-error @+1 {{has result type 'tensor<16xf32>', but its operands give 'tensor<16xf32, #dist<dp: P>>'}}
    %y = nn.layer_norm_grad_weight %g, %x {epsilon = 1.0e-5 : f64}
        : (tensor<2x8x16xf32, #dist<dp: S(0)>>, tensor<2x8x16xf32, #dist<dp: S(0)>>) -> tensor<16xf32>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @normalized_dimension_is_split(%g: tensor<2x8x16xf32, #dist<tp: S(2)>>,
      %x: tensor<2x8x16xf32, #dist<tp: S(2)>>) {
    // expected-error @+2 {{refuses S(2), S(2) on axis 'tp'}}
    // expected-note @+1 {{operand 0 shards dimension 2, which this op needs whole: all_gather it first}}
    %y = nn.layer_norm_grad_weight %g, %x {epsilon = 1.0e-5 : f64}
        : (tensor<2x8x16xf32, #dist<tp: S(2)>>, tensor<2x8x16xf32, #dist<tp: S(2)>>) -> tensor<16xf32, #dist<tp: S(0)>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @nonlinear_in_the_input(%g: tensor<2x8x16xf32, #dist<tp: R>>, %x: tensor<2x8x16xf32, #dist<tp: P>>) {
    // expected-error @+2 {{refuses R, P on axis 'tp'}}
    // expected-note @+1 {{reduce the partial operand first (all_reduce, reduce_scatter)}}
    %y = nn.layer_norm_grad_weight %g, %x {epsilon = 1.0e-5 : f64}
        : (tensor<2x8x16xf32, #dist<tp: R>>, tensor<2x8x16xf32, #dist<tp: P>>) -> tensor<16xf32, #dist<tp: P>>
    return
  }
}
