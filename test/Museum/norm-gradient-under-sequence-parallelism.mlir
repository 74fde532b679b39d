// Gradients of norm weights are not added over tp under sequence parallelism.
//
// Fault: between the blocks a rank of tp has some of the tokens, so its gradient of a
// norm's weight is a partial sum. The reduction is a function that the training loop must call for
// parameters that carry a flag; weights without the flag drift apart.
// Source: https://github.com/NVIDIA/Megatron-LM/issues/1446,
// https://github.com/EleutherAI/gpt-neox/pull/1257 (its loss stayed near 8)
// Here: the weight must `enter` to meet split tokens, the transpose of `enter` is the all-reduce,
// and a partial sum cannot update a parameter.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

!x = tensor<4x6x8xf32, #dist<tp: S(1)>>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @weight_did_not_enter(%x: !x, %w: tensor<8xf32>) {
    // expected-error @+2 {{refuses S(1), I, I on axis 'tp'}}
    // expected-note @+1 {{an I operand stands next to a varying one: enter or slice it first}}
    %y = nn.layer_norm %x, %w, %w {epsilon = 1.0e-5 : f64} : (!x, tensor<8xf32>, tensor<8xf32>) -> !x
    return
  }
}

// -----

!x = tensor<4x6x8xf32, #dist<tp: S(1)>>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @gradient_claims_to_be_whole(%g: !x, %x: !x) {
    // expected-error @+1 {{has result type 'tensor<8xf32>', but its operands give 'tensor<8xf32, #dist<tp: P>>'}}
    %dw = nn.layer_norm_grad_weight %g, %x {epsilon = 1.0e-5 : f64} : (!x, !x) -> tensor<8xf32>
    return
  }
}

// -----

!p = tensor<8xf32, #dist<tp: P>>
!r = tensor<8xf32>
!s = tensor<f32>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @addend_updates_the_moment(%m: !r, %dw: !p) {
    // expected-error @+2 {{refuses I, P on axis 'tp'}}
    // expected-note @+1 {{reduce the partial operand first (all_reduce, reduce_scatter) or make the I operand partial}}
    %m1 = nn.add "a,a->a" %m, %dw {coefs = array<f64: 0.9, 0.1>} : (!r, !p) -> !r
    return
  }
}

// -----

!x = tensor<4x6x8xf32, #dist<tp: S(1)>>
!r = tensor<8xf32, #dist<tp: R>>
!p = tensor<8xf32, #dist<tp: P>>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @repaired(%x: !x, %g: !x, %w: tensor<8xf32>, %m: tensor<8xf32>) {
    %entered = dist.convert enter %w on "tp" : tensor<8xf32> -> !r
    %y = nn.layer_norm %x, %entered, %entered {epsilon = 1.0e-5 : f64} : (!x, !r, !r) -> !x
    %addend = nn.layer_norm_grad_weight %g, %x {epsilon = 1.0e-5 : f64} : (!x, !x) -> !p
    %dw = dist.convert all_reduce %addend on "tp" : !p -> tensor<8xf32>
    %m1 = nn.add "a,a->a" %m, %dw {coefs = array<f64: 0.9, 0.1>} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    return
  }
}
