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
