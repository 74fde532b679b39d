// RUN: tessera-opt %s -split-input-file -verify-diagnostics

module attributes {dist.mesh = #dist.mesh<dp = 2>} {
  func.func @gradient_was_not_reduced(%p: tensor<8xf32>, %m: tensor<8xf32, #dist<dp: P>>, %v: tensor<8xf32>,
      %s: tensor<f32>) {
    // expected-error @+2 {{refuses I, P, I, I, I, I on axis 'dp'}}
    // expected-note @+1 {{reduce the partial operand first (all_reduce, reduce_scatter) or make the I operand partial}}
    %y = nn.adamw %p, %m, %v, %s, %s, %s {epsilon = 1.0e-8 : f64, decay = 0.1 : f64}
        : (tensor<8xf32>, tensor<8xf32, #dist<dp: P>>, tensor<8xf32>, tensor<f32>, tensor<f32>, tensor<f32>)
            -> tensor<8xf32>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @moment_is_not_split_like_the_parameter(%p: tensor<8xf32, #dist<tp: S(0)>>,
      %m: tensor<8xf32, #dist<tp: R>>, %v: tensor<8xf32, #dist<tp: S(0)>>, %s: tensor<f32, #dist<tp: R>>) {
    // expected-error @+2 {{refuses S(0), R, S(0), R, R, R on axis 'tp'}}
    // expected-note @+1 {{only one factor may be sharded, alike in all operands: all_gather or all_to_all one of them}}
    %y = nn.adamw %p, %m, %v, %s, %s, %s {epsilon = 1.0e-8 : f64, decay = 0.1 : f64}
        : (tensor<8xf32, #dist<tp: S(0)>>, tensor<8xf32, #dist<tp: R>>, tensor<8xf32, #dist<tp: S(0)>>,
            tensor<f32, #dist<tp: R>>, tensor<f32, #dist<tp: R>>, tensor<f32, #dist<tp: R>>) -> tensor<8xf32,
            #dist<tp: S(0)>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @scalars_did_not_enter(%p: tensor<8xf32, #dist<tp: S(0)>>, %m: tensor<8xf32, #dist<tp: S(0)>>,
      %v: tensor<8xf32, #dist<tp: S(0)>>, %s: tensor<f32>) {
    // expected-error @+2 {{refuses S(0), S(0), S(0), I, I, I on axis 'tp'}}
    // expected-note @+1 {{an I operand stands next to a varying one: enter or slice it first}}
    %y = nn.adamw %p, %m, %v, %s, %s, %s {epsilon = 1.0e-8 : f64, decay = 0.1 : f64}
        : (tensor<8xf32, #dist<tp: S(0)>>, tensor<8xf32, #dist<tp: S(0)>>, tensor<8xf32, #dist<tp: S(0)>>, tensor<f32>,
            tensor<f32>, tensor<f32>) -> tensor<8xf32, #dist<tp: S(0)>>
    return
  }
}

// -----

func.func @moment_of_another_size(%p: tensor<8xf32>, %m: tensor<4xf32>, %v: tensor<8xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{sizes 8 and 4 of factor 'a' differ}}
  %y = nn.adamw %p, %m, %v, %s, %s, %s {epsilon = 1.0e-8 : f64, decay = 0.1 : f64}
      : (tensor<8xf32>, tensor<4xf32>, tensor<8xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

func.func @rate_is_no_scalar(%p: tensor<8xf32>, %m: tensor<8xf32>, %v: tensor<8xf32>, %s: tensor<1xf32>) {
  // expected-error @+1 {{operand 3 has rank 1, but its factors are ''}}
  %y = nn.adamw %p, %m, %v, %s, %s, %s {epsilon = 1.0e-8 : f64, decay = 0.1 : f64}
      : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<8xf32>
  return
}
