//===- RTSamplingOps.td - sampling on one rank -------------*- tablegen -*-===//

#ifndef TESSERA_DIALECT_RT_RTSAMPLINGOPS_TD
#define TESSERA_DIALECT_RT_RTSAMPLINGOPS_TD

def RT_PenalizeOp : RT_Op<"penalize", [Pure, AllTypesMatch<["logits", "result"]>,
                                       RT_Call<["getTiedOperand"]>]> {
  let summary = "Penalizes tokens in place, as TSR_PENALIZE of runtime/tessera/abi.h";
  let description = [{
    The rank's columns begin at index `start` of the vocabulary, and `valid` of them
    are no padding. The result is the buffer of the logits.
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
  let summary = "The best of the rank's logits, as TSR_TOP of runtime/tessera/abi.h";
  let description = [{
    The rank's columns begin at index `start` of the vocabulary of `total`, and
    `valid` of them are no padding, which is not read.
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
  let summary = "The best candidates of several ranks, as TSR_MERGE_TOP of runtime/tessera/abi.h";
  let description = [{
    `parts` are the lists of the ranks one after the other along dimension 0.
  }];
  let arguments = (ins AnyRankedTensor:$parts);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$parts attr-dict `:` type($parts) `->` type($result)";
  let hasVerifier = 1;
}

#endif // TESSERA_DIALECT_RT_RTSAMPLINGOPS_TD
