// A router's gradient that is not added over tp.
//
// Fault: experts are split over tp, so each rank has partial sums of a token's result,
// and of the gradient of the gate that it is multiplied with. The router itself is replicated.
// Frameworks took its gradient for whole: the ranks' routers drifted apart after the first step.
// Source: https://github.com/pytorch/torchtitan/issues/2387; under sequence parallelism
// https://github.com/NVIDIA/Megatron-LM/pull/619
// Here: gates beside partial sums must have entered (I -> R); the transpose of that is the missing
// all-reduce. Under sequence parallelism the router's weight meets split tokens and must enter,
// too.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

!partial = tensor<4x2x8x16xf32, #dist<tp: P>>
!gates = tensor<2x8x4xf32>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @gates_taken_for_whole(%r: !partial, %g: !gates) {
    // expected-error @+2 {{refuses P, I on axis 'tp'}}
    // expected-note @+1 {{reduce the partial operand first (all_reduce, reduce_scatter) or make the I operand partial}}
    %y = nn.collect %r by %g weighted : (!partial, !gates) -> tensor<2x8x16xf32, #dist<tp: P>>
    return
  }
}

// -----

!tokens = tensor<2x8x16xf32, #dist<tp: S(1)>>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @router_meets_split_tokens(%x: !tokens, %w: tensor<4x16xf32>) {
    // expected-error @+2 {{refuses S(1), I on axis 'tp'}}
    // expected-note @+1 {{an I operand stands next to a varying one: enter or slice it first}}
    %l = nn.einsum "bsh,yh->bsy" %x, %w : (!tokens, tensor<4x16xf32>) -> tensor<2x8x4xf32, #dist<tp: S(1)>>
    return
  }
}

// -----

!partial = tensor<4x2x8x16xf32, #dist<tp: P>>
!gates = tensor<2x8x4xf32>
!entered = tensor<2x8x4xf32, #dist<tp: R>>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @right(%r: !partial, %g: !gates) {
    %e = dist.convert enter %g on "tp" : !gates -> !entered
    %y = nn.collect %r by %e weighted : (!partial, !entered) -> tensor<2x8x16xf32, #dist<tp: P>>
    return
  }
}
