// The gradient of a column-parallel product's input is not added over tp.
//
// Fault: each rank multiplies the same input with its columns, so each has a partial sum
// of the input's gradient. Megatron's `f` adds them in backward; a loss that is fused with the last
// product, or an `f` that returns its own argument, leaves them as they are.
// Source: https://github.com/apple/ml-cross-entropy/pull/42, https://github.com/NovaSky-AI/SkyRL/pull/1886
// Here: `f` is the conversion `enter`. Without it the product does not type; its transpose is the all-reduce.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

!w = tensor<16x64xf32, #dist<tp: S(1)>>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @input_did_not_enter(%x: tensor<8x16xf32>, %w: !w) {
    // expected-error @+2 {{refuses I, S(1) on axis 'tp'}}
    // expected-note @+1 {{an I operand stands next to a varying one: enter or slice it first}}
    %y = nn.einsum "bh,hv->bv" %x, %w : (tensor<8x16xf32>, !w) -> tensor<8x64xf32, #dist<tp: S(1)>>
    return
  }
}

// -----

!w = tensor<16x64xf32, #dist<tp: S(1)>>
!g = tensor<8x64xf32, #dist<tp: S(1)>>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @gradient_claims_to_be_whole(%g: !g, %w: !w) {
    // expected-error @+1 {{has result type 'tensor<8x16xf32>', but its operands give 'tensor<8x16xf32, #dist<tp: P>>'}}
    %dx = nn.einsum "bv,hv->bh" %g, %w : (!g, !w) -> tensor<8x16xf32>
    return
  }
}

// -----

!w = tensor<16x64xf32, #dist<tp: S(1)>>
!y = tensor<8x64xf32, #dist<tp: S(1)>>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @repaired(%x: tensor<8x16xf32>, %w: !w, %g: !y) {
    %entered = dist.convert enter %x on "tp" : tensor<8x16xf32> -> tensor<8x16xf32, #dist<tp: R>>
    %y = nn.einsum "bh,hv->bv" %entered, %w : (tensor<8x16xf32, #dist<tp: R>>, !w) -> !y
    %addend = nn.einsum "bv,hv->bh" %g, %w : (!y, !w) -> tensor<8x16xf32, #dist<tp: P>>
    %dx = dist.convert all_reduce %addend on "tp" : tensor<8x16xf32, #dist<tp: P>> -> tensor<8x16xf32>
    return
  }
}
