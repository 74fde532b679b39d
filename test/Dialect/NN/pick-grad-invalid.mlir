// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @of_a_scalar(%g: tensor<2x8xf32>, %labels: tensor<2x8xi32>, %x: tensor<f32>) {
  // expected-error @+1 {{operand #2 must be ranked tensor with at least 1 dimension}}
  %y = nn.pick_grad %g, %labels like %x : (tensor<2x8xf32>, tensor<2x8xi32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @labels_are_no_integers(%g: tensor<2x8xf32>, %labels: tensor<2x8xf32>, %x: tensor<2x8x64xf32>) {
  // expected-error @+1 {{operand #1 must be ranked tensor of indices}}
  %y = nn.pick_grad %g, %labels like %x : (tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
  return
}

// -----

func.func @other_sequences(%g: tensor<2x8xf32>, %labels: tensor<2x4xi32>, %x: tensor<2x8x64xf32>) {
  // expected-error @+1 {{sizes 8 and 4 of factor 'b' differ}}
  %y = nn.pick_grad %g, %labels like %x : (tensor<2x8xf32>, tensor<2x4xi32>, tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
  return
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @gradient_did_not_enter(%g: tensor<2x8xf32>, %labels: tensor<2x8xi32, #dist<tp: R>>,
      %x: tensor<2x8x64xf32, #dist<tp: S(2)>>) {
    // expected-error @+2 {{refuses I, R, S(2) on axis 'tp'}}
    // expected-note @+1 {{an I operand stands next to a varying one: enter or slice it first}}
    %y = nn.pick_grad %g, %labels like %x
        : (tensor<2x8xf32>, tensor<2x8xi32, #dist<tp: R>>, tensor<2x8x64xf32, #dist<tp: S(2)>>)
        -> tensor<2x8x64xf32, #dist<tp: S(2)>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @addends_for_split_logits(%g: tensor<2x8xf32, #dist<tp: P>>, %labels: tensor<2x8xi32, #dist<tp: R>>,
      %x: tensor<2x8x64xf32, #dist<tp: S(2)>>) {
    // expected-error @+2 {{refuses P, R, S(2) on axis 'tp'}}
    // expected-note @+1 {{reduce the partial operand first (all_reduce, reduce_scatter)}}
    %y = nn.pick_grad %g, %labels like %x
        : (tensor<2x8xf32, #dist<tp: P>>, tensor<2x8xi32, #dist<tp: R>>, tensor<2x8x64xf32, #dist<tp: S(2)>>)
        -> tensor<2x8x64xf32, #dist<tp: S(2)>>
    return
  }
}
