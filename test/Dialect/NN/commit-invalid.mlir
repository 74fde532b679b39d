// RUN: tessera-opt %s -split-input-file -verify-diagnostics

module attributes {dist.mesh = #dist.mesh<dp = 2>} {
  func.func @ranks_would_decide_by_their_part_of_the_norm(%counts: tensor<f32, #dist<dp: P>>,
      %new: tensor<8xf32, #dist<dp: R>>, %old: tensor<8xf32, #dist<dp: R>>) {
    // expected-error @+2 {{refuses P, R, R on axis 'dp'}}
    // expected-note @+1 {{reduce the partial operand first (all_reduce, reduce_scatter)}}
    %y = nn.commit %counts, %new, %old : (tensor<f32, #dist<dp: P>>, tensor<8xf32, #dist<dp: R>>,
        tensor<8xf32, #dist<dp: R>>) -> tensor<8xf32, #dist<dp: R>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @decision_did_not_enter(%counts: tensor<f32>, %p: tensor<8xf32, #dist<tp: S(0)>>) {
    // expected-error @+2 {{refuses I, S(0), S(0) on axis 'tp'}}
    // expected-note @+1 {{an I operand stands next to a varying one: enter or slice it first}}
    %y = nn.commit %counts, %p, %p : (tensor<f32>, tensor<8xf32, #dist<tp: S(0)>>, tensor<8xf32, #dist<tp: S(0)>>)
        -> tensor<8xf32, #dist<tp: S(0)>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @state_is_never_partial(%counts: tensor<f32, #dist<tp: R>>, %p: tensor<8xf32, #dist<tp: P>>) {
    // expected-error @+2 {{refuses R, P, P on axis 'tp'}}
    // expected-note @+1 {{reduce the partial operand first (all_reduce, reduce_scatter)}}
    %y = nn.commit %counts, %p, %p : (tensor<f32, #dist<tp: R>>, tensor<8xf32, #dist<tp: P>>,
        tensor<8xf32, #dist<tp: P>>) -> tensor<8xf32, #dist<tp: P>>
    return
  }
}

// -----

func.func @old_value_of_another_size(%counts: tensor<f32>, %new: tensor<8xf32>, %old: tensor<4xf32>) {
  // expected-error @+1 {{sizes 8 and 4 of factor 'a' differ}}
  %y = nn.commit %counts, %new, %old : (tensor<f32>, tensor<8xf32>, tensor<4xf32>) -> tensor<8xf32>
  return
}
