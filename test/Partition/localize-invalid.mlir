// RUN: tessera-opt %s --split-input-file --verify-diagnostics --rt-localize

// expected-error @+1 {{has no function @step}}
module {
}

// -----

module @all_to_all attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @step(%x: tensor<8x3xf32, #dist<tp: S(0)>>) {
    // expected-error @+1 {{'all_to_all' needs dimensions that the 2 ranks of axis 'tp' divide; use all_gather and all_slice instead}}
    %y = dist.convert all_to_all %x on "tp" : tensor<8x3xf32, #dist<tp: S(0)>> -> tensor<8x3xf32, #dist<tp: S(1)>>
    return
  }
}

// -----

module @not_a_tensor {
  // expected-error @+1 {{argument #0 of @step has type 'i64'; it must be a ranked tensor}}
  func.func @step(%x: i64) {
    return
  }
}

// -----

// expected-error @+1 {{is distributed over axis 'tp', which the module's dist.mesh does not have}}
func.func @step(%x: tensor<8xf32, #dist<tp: S(0)>>) {
  return
}

// -----

// A weight is no addend.
module attributes {dist.mesh = #dist.mesh<cp = 2, tp = 2>} {
  func.func @step(%x: tensor<4x8xf32, #dist<cp: L, tp: P>>) {
    // expected-error @+1 {{converts P on axis 'tp' of a mean that is partial on another axis; merge the means first (all_reduce_mean)}}
    %y = dist.convert all_reduce %x on "tp" : tensor<4x8xf32, #dist<cp: L, tp: P>> -> tensor<4x8xf32, #dist<cp: L>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 4>} {
  func.func @step(%x: tensor<4x6x8xf32, #dist<tp: L>>) {
    // expected-error @+1 {{'reduce_scatter_mean' needs dimensions that the 4 ranks of axis 'tp' divide; use all_gather and all_slice instead}}
    %y = dist.convert reduce_scatter_mean %x on "tp" : tensor<4x6x8xf32, #dist<tp: L>> -> tensor<4x6x8xf32, #dist<tp: S(1)>>
    return
  }
}
