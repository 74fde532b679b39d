// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @unknown_function(%x: tensor<8xf32>) {
  // expected-error @+1 {{expected string or keyword containing one of the following enum values for attribute 'function' [gelu_tanh, gelu, relu, exp, log, sqrt, reciprocal, clip_factor, rsqrt, silu, is_finite, sign, tanh, sigmoid]}}
  %y = nn.map swish %x : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @clip_without_a_bound(%x: tensor<8xf32>) {
  // expected-error @+1 {{has no bound, but 'clip_factor' needs one; add {bound = 1.0 : f64}}}
  %y = nn.map clip_factor %x : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @rsqrt_without_a_bound(%x: tensor<8xf32>) {
  // expected-error @+1 {{has no bound, but 'rsqrt' needs one}}
  %y = nn.map rsqrt %x : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @bound_is_not_used(%x: tensor<8xf32>) {
  // expected-error @+1 {{has a bound, but 'gelu' takes none; remove it}}
  %y = nn.map gelu %x {bound = 1.0 : f64} : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @shape_changes(%x: tensor<8xf32>) {
  // expected-error @+1 {{has result type 'tensor<4xf32>', but its operands give 'tensor<8xf32>'}}
  %y = nn.map relu %x : tensor<8xf32> -> tensor<4xf32>
  return
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @nonlinear_of_addends(%x: tensor<8xf32, #dist<tp: P>>) {
    // expected-error @+2 {{refuses P on axis 'tp'}}
    // expected-note @+1 {{reduce the partial operand first (all_reduce, reduce_scatter)}}
    %y = nn.map gelu %x : tensor<8xf32, #dist<tp: P>> -> tensor<8xf32, #dist<tp: P>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @monotonic_of_maxima(%x: tensor<8xf32, #dist<tp: M>>) {
    // expected-error @+2 {{refuses M on axis 'tp'}}
    // expected-note @+1 {{compare the partial maxima first (all_reduce_max)}}
    %y = nn.map exp %x : tensor<8xf32, #dist<tp: M>> -> tensor<8xf32, #dist<tp: M>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @result_in_another_state(%x: tensor<8xf32, #dist<tp: R>>) {
    // expected-error @+1 {{has result type 'tensor<8xf32>', but its operands give 'tensor<8xf32, #dist<tp: R>>'}}
    %y = nn.map relu %x : tensor<8xf32, #dist<tp: R>> -> tensor<8xf32>
    return
  }
}
