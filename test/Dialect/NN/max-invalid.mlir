// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @of_a_scalar(%x: tensor<f32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor with at least 1 dimension of any type values, but got 'tensor<f32>'}}
  %y = nn.max %x : tensor<f32> -> tensor<f32>
  return
}

// -----

func.func @dimension_is_kept(%x: tensor<2x8x64xf32>) {
  // expected-error @+1 {{has result type 'tensor<2x8x64xf32>', but its operands give 'tensor<2x8xf32>'}}
  %y = nn.max %x : tensor<2x8x64xf32> -> tensor<2x8x64xf32>
  return
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @split_dimension_leaves_candidates(%x: tensor<2x8x64xf32, #dist<tp: S(2)>>) {
    // expected-error @+1 {{has result type 'tensor<2x8xf32, #dist<tp: P>>', but its operands give 'tensor<2x8xf32, #dist<tp: M>>'}}
    %y = nn.max %x : tensor<2x8x64xf32, #dist<tp: S(2)>> -> tensor<2x8xf32, #dist<tp: P>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @of_addends(%x: tensor<2x8x64xf32, #dist<tp: P>>) {
    // expected-error @+2 {{refuses P on axis 'tp'}}
    // expected-note @+1 {{reduce the partial operand first (all_reduce, reduce_scatter)}}
    %y = nn.max %x : tensor<2x8x64xf32, #dist<tp: P>> -> tensor<2x8xf32, #dist<tp: P>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @of_candidates(%x: tensor<2x8x64xf32, #dist<tp: M>>) {
    // expected-error @+2 {{refuses M on axis 'tp'}}
    // expected-note @+1 {{compare the partial maxima first (all_reduce_max)}}
    %y = nn.max %x : tensor<2x8x64xf32, #dist<tp: M>> -> tensor<2x8xf32, #dist<tp: M>>
    return
  }
}
