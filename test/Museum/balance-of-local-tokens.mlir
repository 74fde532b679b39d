// A load-balance loss of each rank's own tokens, or scaled by another count than theirs.
//
// Fault: the loss is the product of two means over the batch, how many tokens an expert
// gets and how probable it is. A rank multiplied the means of its own tokens, or one of its own
// with a global one, and divided by global counts: 1/dp of the gradient that the coefficient asks
// for.
// Source: https://github.com/NVIDIA/Megatron-LM/issues/3672, https://github.com/NVIDIA/Megatron-LM/pull/5047
// Here: sums over a split batch are partial sums (P); a product of two partial sums has no type,
// whoever divides by what. One of them is reduced first; then the product is a partial sum of the
// loss, and its gradient is added like the loss's own.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

!sum = tensor<4xf32, #dist<dp: P>>
module attributes {dist.mesh = #dist.mesh<dp = 2>} {
  func.func @product_of_local_sums(%tokens: !sum, %probabilities: !sum) {
    // expected-error @+2 {{refuses P, P on axis 'dp'}}
    // expected-note @+1 {{reduce the partial operand first (all_reduce, reduce_scatter)}}
    %loss = nn.einsum "x,x->" %tokens, %probabilities : (!sum, !sum) -> tensor<f32, #dist<dp: P>>
    return
  }
}

// -----

!sum = tensor<4xf32, #dist<dp: P>>
!whole = tensor<4xf32>
module attributes {dist.mesh = #dist.mesh<dp = 2>} {
  func.func @one_of_them_global(%tokens: !sum, %probabilities: !sum) {
    %all = dist.convert all_reduce %tokens on "dp" : !sum -> !whole
    // expected-error @+2 {{refuses I, P on axis 'dp'}}
    // expected-note @+1 {{reduce the partial operand first (all_reduce, reduce_scatter) or make the I operand partial}}
    %loss = nn.einsum "x,x->" %all, %probabilities : (!whole, !sum) -> tensor<f32, #dist<dp: P>>
    return
  }
}

// -----

!sum = tensor<4xf32, #dist<dp: P>>
!whole = tensor<4xf32>
!entered = tensor<4xf32, #dist<dp: R>>
module attributes {dist.mesh = #dist.mesh<dp = 2>} {
  func.func @right(%tokens: !sum, %probabilities: !sum) {
    %all = dist.convert all_reduce %tokens on "dp" : !sum -> !whole
    %e = dist.convert enter %all on "dp" : !whole -> !entered
    %loss = nn.einsum "x,x->" %e, %probabilities : (!entered, !sum) -> tensor<f32, #dist<dp: P>>
    return
  }
}
