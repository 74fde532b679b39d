// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @not_a_scalar() {
  // expected-error @+1 {{has result type 'tensor<8xf32>', but its operands give 'tensor<f32>'}}
  %y = nn.constant 1.0 f32 : tensor<8xf32>
  return
}

// -----

func.func @another_type() {
  // expected-error @+1 {{has result type 'tensor<f64>', but its operands give 'tensor<f32>'}}
  %y = nn.constant 1.0 f32 : tensor<f64>
  return
}

// -----

func.func @an_integer() {
  // expected-error @+1 {{attribute 'element_type' failed to satisfy constraint: type attribute of bfloat16 type or 16-bit float or 32-bit float or 64-bit float}}
  %y = nn.constant 1.0 i32 : tensor<i32>
  return
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @every_rank_knows_it() {
    // expected-error @+1 {{has result type 'tensor<f32, #dist<tp: R>>', but its operands give 'tensor<f32>'}}
    %y = nn.constant 1.0 f32 : tensor<f32, #dist<tp: R>>
    return
  }
}
