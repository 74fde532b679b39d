// More ranks of tp than key and value heads.
//
// Fault: a rank gets a fraction of a head and a reshape fails, or heads are copied to
// several ranks and their gradients, each from other query heads, are not added: the copies drift
// apart.
// Source: https://github.com/pytorch/torchtitan/issues/2574, https://github.com/huggingface/transformers/pull/47811
// Here: tp splits the query heads of each key head. Keys and values `enter`, and the transpose of
// that adds their gradients.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics
// RUN: tessera verify %S/Inputs/grouped.json --mesh tp=4 --precision f64 | FileCheck %s
// CHECK: erasure  ok
// CHECK: f64      ok

!q = tensor<2x8x2x4x4xf32, #dist<tp: S(3)>>
!k = tensor<2x8x2x4xf32>
module attributes {dist.mesh = #dist.mesh<tp = 4>} {
  func.func @keys_did_not_enter(%q: !q, %k: !k) {
    // expected-error @+2 {{refuses S(3), I, I on axis 'tp'}}
    // expected-note @+1 {{an I operand stands next to a varying one: enter or slice it first}}
    %y, %lse = nn.attention %q, %k, %k <causal, scale = 0.5> {stream = 1 : i64}
        : (!q, !k, !k) -> (!q, tensor<2x2x4x8xf32, #dist<tp: S(2)>>)
    return
  }
}

// -----

!w = tensor<16x2x4xf32>
!x = tensor<2x8x16xf32>
!addend = tensor<2x8x2x4xf32, #dist<tp: P>>
module attributes {dist.mesh = #dist.mesh<tp = 4>} {
  func.func @gradient_of_copies_is_not_added(%x: !x, %of_keys: !addend) {
    // expected-error @+2 {{refuses I, P on axis 'tp'}}
    // expected-note @+1 {{reduce the partial operand first (all_reduce, reduce_scatter) or make the I operand partial}}
    %dw = nn.einsum "bsh,bsgd->hgd" %x, %of_keys : (!x, !addend) -> !w
    return
  }
}

// -----

!q = tensor<2x8x2x4x4xf32, #dist<tp: S(3)>>
!k = tensor<2x8x2x4xf32>
!kr = tensor<2x8x2x4xf32, #dist<tp: R>>
!addend = tensor<2x8x2x4xf32, #dist<tp: P>>
module attributes {dist.mesh = #dist.mesh<tp = 4>} {
  func.func @repaired(%q: !q, %k: !k, %x: tensor<2x8x16xf32>, %of_keys: !addend) {
    %entered = dist.convert enter %k on "tp" : !k -> !kr
    %y, %lse = nn.attention %q, %entered, %entered <causal, scale = 0.5> {stream = 1 : i64}
        : (!q, !kr, !kr) -> (!q, tensor<2x2x4x8xf32, #dist<tp: S(2)>>)
    %sum = dist.convert all_reduce %of_keys on "tp" : !addend -> !k
    %dw = nn.einsum "bsh,bsgd->hgd" %x, %sum : (tensor<2x8x16xf32>, !k) -> tensor<16x2x4xf32>
    return
  }
}
