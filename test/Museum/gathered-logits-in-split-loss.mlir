// Logits that are already gathered enter the cross-entropy of a split vocabulary.
//
// Fault: with `parallel_output=False` (or gathering at run time) every rank holds all
// logits, but the loss still adds the sums of exponentials of all ranks: each is counted tp times,
// the loss is log(tp) too large, and the gradients are wrong.
// Source: https://github.com/NVIDIA/Megatron-LM/issues/7452, row 2 of its table
// Here: a sum over whole logits is `R` or `I`, not `P`, and only `P` can be all-reduced.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

!split = tensor<2x8x64xf32, #dist<tp: S(2)>>
!all = tensor<2x8x64xf32, #dist<tp: R>>
!token = tensor<2x8xf32, #dist<tp: R>>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @sum_of_all_is_added_again(%logits: !split) {
    %gathered = dist.convert all_gather %logits on "tp" : !split -> !all
    %e = nn.map exp %gathered : !all -> !all
    %sum = nn.einsum "bsv->bs" %e : (!all) -> !token
    // expected-error @+1 {{is called 'all_reduce', but R -> I is 'leave'}}
    %total = dist.convert all_reduce %sum on "tp" : !token -> tensor<2x8xf32>
    return
  }
}

// -----

!all = tensor<2x8x64xf32>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @sum_claims_to_be_an_addend(%gathered: !all) {
    %e = nn.map exp %gathered : !all -> !all
    // expected-error @+1 {{has result type 'tensor<2x8xf32, #dist<tp: P>>', but its operands give 'tensor<2x8xf32>'}}
    %sum = nn.einsum "bsv->bs" %e : (!all) -> tensor<2x8xf32, #dist<tp: P>>
    return
  }
}

// -----

!all = tensor<2x8x64xf32>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @target_of_gathered_logits_claims_to_be_an_addend(%gathered: !all, %labels: tensor<2x8xi32>) {
    // expected-error @+1 {{has result type 'tensor<2x8xf32, #dist<tp: P>>', but its operands give 'tensor<2x8xf32>'}}
    %target = nn.pick %gathered, %labels : (!all, tensor<2x8xi32>) -> tensor<2x8xf32, #dist<tp: P>>
    return
  }
}

// -----

!split = tensor<2x8x64xf32, #dist<tp: S(2)>>
!addend = tensor<2x8xf32, #dist<tp: P>>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @repaired(%logits: !split, %labels: tensor<2x8xi32, #dist<tp: R>>) {
    %e = nn.map exp %logits : !split -> !split
    %sum = nn.einsum "bsv->bs" %e : (!split) -> !addend
    %total = dist.convert all_reduce %sum on "tp" : !addend -> tensor<2x8xf32>
    %target = nn.pick %logits, %labels : (!split, tensor<2x8xi32, #dist<tp: R>>) -> !addend
    return
  }
}
