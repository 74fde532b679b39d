//===- RTSamplingOps.td - sampling on one rank -------------*- tablegen -*-===//

#ifndef TESSERA_DIALECT_RT_RTSAMPLINGOPS_TD
#define TESSERA_DIALECT_RT_RTSAMPLINGOPS_TD

def RT_PenalizeOp : RT_Op<"penalize", [Pure, AllTypesMatch<["logits", "result"]>,
                                       RT_Call<["getTiedOperand"]>]> {
  let summary = "Applies the repetition penalty to logits, in place";
  let description = [{
    `nn.penalize` on one rank: the entry `penalize` in
    runtime/include/tessera/abi_arguments.h. The rank's columns begin at index `start`
    of the vocabulary; the first `valid` columns are logits, and the rest is padding.
    The result takes the buffer of the logits.
  }];
  let arguments = (ins AnyRankedTensor:$logits, AnyRankedTensor:$tokens, AnyRankedTensor:$penalties,
                       I64:$start, I64:$valid);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $logits `,` $tokens `,` $penalties `from` $start `valid` $valid attr-dict `:`
    type($tokens) `,` type($penalties) `,` type($logits) `->` type($result)
  }];
}

def RT_TopOp : RT_Op<"top", [Pure, RT_Call<>, AttrSizedOperandSegments]> {
  let summary = "The best candidates among the rank's logits";
  let description = [{
    `nn.top` on one rank: the entry `top` in runtime/include/tessera/abi_arguments.h.
    The rank's columns begin at index `start` of a vocabulary of `total` tokens; the
    first `valid` columns are logits, and the rest is padding, which is not read.
  }];
  let arguments = (ins AnyRankedTensor:$logits, Optional<AnyRankedTensor>:$sharpness,
                       Optional<AnyRankedTensor>:$draws, I64:$start, I64:$valid,
                       RT_Positive:$total);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $logits `from` $start `valid` $valid (`draw` $sharpness^ `,` $draws `:` type($sharpness) `,` type($draws))?
    attr-dict `:` type($logits) `->` type($result)
  }];
  let hasVerifier = 1;
}

def RT_MergeTopOp : RT_Op<"merge_top", [Pure, RT_Call<>]> {
  let summary = "Merges the candidates of several ranks into the best of all";
  let description = [{
    The entry `merge_top` in runtime/include/tessera/abi_arguments.h. `parts` holds the
    ranks' lists of candidates, one rank after the other along dimension 0.
  }];
  let arguments = (ins AnyRankedTensor:$parts);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$parts attr-dict `:` type($parts) `->` type($result)";
  let hasVerifier = 1;
}

#endif // TESSERA_DIALECT_RT_RTSAMPLINGOPS_TD
