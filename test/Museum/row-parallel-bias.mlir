// The bias of a row-parallel product is added on every rank, or its gradient is scaled.
//
// Fault: each rank adds the bias to its partial sum, and the all-reduce multiplies it by
// tp. Adding 1/tp of it on each rank repairs forward, but then backward scales the gradient by 1/tp
// as well.
// Source: https://github.com/huggingface/text-generation-inference/issues/1036,
// https://github.com/pytorch/torchtitan/pull/4332 (the gradient)
// Here: whole and partial values do not add. `replicated_to_partial` makes the bias a partial sum
// that counts once, and its transpose keeps the gradient.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

!p = tensor<8x64xf32, #dist<tp: P>>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @bias_on_every_rank(%x: !p, %b: tensor<64xf32>) {
    // expected-error @+2 {{refuses P, I on axis 'tp'}}
    // expected-note @+1 {{reduce the partial operand first (all_reduce, reduce_scatter) or make the I operand partial}}
    %y = nn.add "bf,f->bf" %x, %b : (!p, tensor<64xf32>) -> !p
    return
  }
}

// -----

!p = tensor<8x64xf32, #dist<tp: P>>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @half_of_it_on_every_rank(%x: !p, %b: tensor<64xf32>) {
    %r = dist.convert enter %b on "tp" : tensor<64xf32> -> tensor<64xf32, #dist<tp: R>>
    // expected-error @+2 {{refuses P, R on axis 'tp'}}
    // expected-note @+1 {{reduce the partial operand first (all_reduce, reduce_scatter)}}
    %y = nn.add "bf,f->bf" %x, %r {coefs = array<f64: 1.0, 0.5>} : (!p, tensor<64xf32, #dist<tp: R>>) -> !p
    return
  }
}

// -----

!p = tensor<8x64xf32, #dist<tp: P>>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @repaired(%x: !p, %b: tensor<64xf32>) {
    %once = dist.convert replicated_to_partial %b on "tp" : tensor<64xf32> -> tensor<64xf32, #dist<tp: P>>
    %y = nn.add "bf,f->bf" %x, %once : (!p, tensor<64xf32, #dist<tp: P>>) -> !p
    %z = dist.convert all_reduce %y on "tp" : !p -> tensor<8x64xf32>
    return
  }
}
