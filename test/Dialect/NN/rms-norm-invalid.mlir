// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @nothing_to_normalize(%x: tensor<f32>, %w: tensor<16xf32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor with at least 1 dimension}}
  %y = nn.rms_norm %x, %w {epsilon = 1.0e-5 : f64} : (tensor<f32>, tensor<16xf32>) -> tensor<f32>
  return
}

// -----

func.func @weight_of_another_size(%x: tensor<2x16xf32>, %w: tensor<8xf32>) {
  // expected-error @+1 {{sizes 16 and 8 of factor 'b' differ}}
  %y = nn.rms_norm %x, %w {epsilon = 1.0e-5 : f64} : (tensor<2x16xf32>, tensor<8xf32>) -> tensor<2x16xf32>
  return
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @normalized_dimension_is_split(%x: tensor<2x16xf32, #dist<tp: S(1)>>,
      %w: tensor<16xf32, #dist<tp: S(0)>>) {
    // expected-error @+2 {{refuses S(1), S(0) on axis 'tp'}}
    // expected-note @+1 {{operand 0 shards dimension 1, which this op needs whole: all_gather it first}}
    %y = nn.rms_norm %x, %w {epsilon = 1.0e-5 : f64}
        : (tensor<2x16xf32, #dist<tp: S(1)>>, tensor<16xf32, #dist<tp: S(0)>>) -> tensor<2x16xf32, #dist<tp: S(1)>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @nonlinear_in_the_input(%x: tensor<2x16xf32, #dist<tp: P>>, %w: tensor<16xf32, #dist<tp: R>>) {
    // expected-error @+2 {{refuses P, R on axis 'tp'}}
    // expected-note @+1 {{reduce the partial operand first (all_reduce, reduce_scatter)}}
    %y = nn.rms_norm %x, %w {epsilon = 1.0e-5 : f64}
        : (tensor<2x16xf32, #dist<tp: P>>, tensor<16xf32, #dist<tp: R>>) -> tensor<2x16xf32, #dist<tp: P>>
    return
  }
}

// -----

func.func @gradient_of_another_shape(%g: tensor<2x8xf32>, %x: tensor<2x16xf32>, %w: tensor<16xf32>) {
  // expected-error @+1 {{sizes 8 and 16 of factor 'b' differ}}
  %y = nn.rms_norm_grad_input %g, %x, %w {epsilon = 1.0e-5 : f64}
      : (tensor<2x8xf32>, tensor<2x16xf32>, tensor<16xf32>) -> tensor<2x16xf32>
  return
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2>} {
  func.func @sum_over_a_split_batch_is_partial(%g: tensor<2x16xf32, #dist<dp: S(0)>>,
      %x: tensor<2x16xf32, #dist<dp: S(0)>>) {
    // expected-error @+1 {{has result type 'tensor<16xf32>', but its operands give 'tensor<16xf32, #dist<dp: P>>'}}
    %y = nn.rms_norm_grad_weight %g, %x {epsilon = 1.0e-5 : f64}
        : (tensor<2x16xf32, #dist<dp: S(0)>>, tensor<2x16xf32, #dist<dp: S(0)>>) -> tensor<16xf32>
    return
  }
}
