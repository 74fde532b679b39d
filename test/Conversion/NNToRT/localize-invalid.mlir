// RUN: tessera-opt %s --split-input-file --verify-diagnostics --rt-localize

// expected-error @+1 {{has no function @step}}
module {
}

// -----

module @all_gather attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @step(%x: tensor<8x4xf32, #dist<tp: S(0)>>) {
    // expected-error @+1 {{'all_gather' cannot be lowered to the runtime yet; all_reduce, enter, leave and first can}}
    %y = dist.convert all_gather %x on "tp" : tensor<8x4xf32, #dist<tp: S(0)>> -> tensor<8x4xf32, #dist<tp: R>>
    return
  }
}

// -----

module @reduce_scatter attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @step(%x: tensor<8x4xf32, #dist<tp: P>>) {
    // expected-error @+1 {{'reduce_scatter' cannot be lowered to the runtime yet; all_reduce, enter, leave and first can}}
    %y = dist.convert reduce_scatter %x on "tp" : tensor<8x4xf32, #dist<tp: P>> -> tensor<8x4xf32, #dist<tp: S(0)>>
    return
  }
}

// -----

module @slice attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @step(%x: tensor<8x4xf32>) {
    // expected-error @+1 {{'slice' cannot be lowered to the runtime yet; all_reduce, enter, leave and first can}}
    %y = dist.convert slice %x on "tp" : tensor<8x4xf32> -> tensor<8x4xf32, #dist<tp: S(0)>>
    return
  }
}

// -----

module @pad attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @step(%x: tensor<8x4xf32, #dist<tp: S(0)>>) {
    // expected-error @+1 {{'pad' cannot be lowered to the runtime yet; all_reduce, enter, leave and first can}}
    %y = dist.convert pad %x on "tp" : tensor<8x4xf32, #dist<tp: S(0)>> -> tensor<8x4xf32, #dist<tp: P>>
    return
  }
}

// -----

module @all_to_all attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @step(%x: tensor<8x4xf32, #dist<tp: S(0)>>) {
    // expected-error @+1 {{'all_to_all' cannot be lowered to the runtime yet; all_reduce, enter, leave and first can}}
    %y = dist.convert all_to_all %x on "tp" : tensor<8x4xf32, #dist<tp: S(0)>> -> tensor<8x4xf32, #dist<tp: S(1)>>
    return
  }
}

// -----

module @two_levels attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @step(%x: tensor<8xf32, #dist<dp: S(0), tp: S(0:1)>>) {
    // expected-error @+1 {{splits dimension 0 over 2 axes; at most 1 can be lowered}}
    %y = nn.map gelu %x : tensor<8xf32, #dist<dp: S(0), tp: S(0:1)>> -> tensor<8xf32, #dist<dp: S(0), tp: S(0:1)>>
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
