// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @rsqrt_has_no_derivative(%g: tensor<8xf32>, %x: tensor<8xf32>) {
  // expected-error @+1 {{has no derivative of 'rsqrt'; only the optimizer and lowered norms use it, after differentiation}}
  %y = nn.map_grad rsqrt %g, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @clip_factor_has_no_derivative(%g: tensor<8xf32>, %x: tensor<8xf32>) {
  // expected-error @+1 {{has no derivative of 'clip_factor'}}
  %y = nn.map_grad clip_factor %g, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @unknown_function(%g: tensor<8xf32>, %x: tensor<8xf32>) {
  // expected-error @+1 {{expected string or keyword containing one of the following enum values for attribute 'function' [gelu_tanh, gelu, relu, exp, log, sqrt, reciprocal, clip_factor, rsqrt, silu, is_finite, sign, tanh, sigmoid]}}
  %y = nn.map_grad swish %g, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @sizes_differ(%g: tensor<8xf32>, %x: tensor<4xf32>) {
  // expected-error @+1 {{sizes 8 and 4 of factor 'a' differ}}
  %y = nn.map_grad gelu %g, %x : (tensor<8xf32>, tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @nonlinear_in_the_input(%g: tensor<8xf32, #dist<tp: R>>, %x: tensor<8xf32, #dist<tp: P>>) {
    // expected-error @+2 {{refuses R, P on axis 'tp'}}
    // expected-note @+1 {{reduce the partial operand first (all_reduce, reduce_scatter)}}
    %y = nn.map_grad gelu %g, %x
        : (tensor<8xf32, #dist<tp: R>>, tensor<8xf32, #dist<tp: P>>) -> tensor<8xf32, #dist<tp: P>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @gradient_of_an_invariant_value(%g: tensor<8xf32, #dist<tp: P>>, %x: tensor<8xf32>) {
    // expected-error @+2 {{refuses P, I on axis 'tp'}}
    // expected-note @+1 {{reduce the partial operand first (all_reduce, reduce_scatter) or make the I operand partial}}
    %y = nn.map_grad gelu %g, %x : (tensor<8xf32, #dist<tp: P>>, tensor<8xf32>) -> tensor<8xf32, #dist<tp: P>>
    return
  }
}
