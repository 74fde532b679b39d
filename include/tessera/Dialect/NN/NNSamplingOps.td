//===- NNSamplingOps.td - what sampling needs of logits ----*- tablegen -*-===//

#ifndef TESSERA_DIALECT_NN_NNSAMPLINGOPS_TD
#define TESSERA_DIALECT_NN_NNSAMPLINGOPS_TD

include "tessera/Dialect/NN/NNBase.td"

def NN_Logits : RankedTensorOf<[AnyFloat], [HasAnyRankOfPred<[3]>],
    "logits [lanes, slots, vocabulary]">;

def NN_PenalizeOp : NN_Op<"penalize"> {
  let summary = "Applies the repetition penalty to the logits of the given tokens";
  let description = [{
    Let `x = logits[b, m, v]` and `p = penalties[b, m]`. If `v` is among
    `tokens[b, m]`, `y[b, m, v]` is `x / p` for `x > 0` and `x * p` otherwise. If not, it
    is `x`. This is the penalty of Keskar et al. 2019, section 4.1, except that
    logits that are not positive are multiplied, so that they decrease too. Negative
    tokens are ignored. If a row's penalty is 1, its tokens are not read.

    Example:

    ```mlir
    %y = nn.penalize %logits, %tokens, %penalties : (tensor<1x4x64xf32>, tensor<1x4x16xi32>, tensor<1x4xf32>) -> tensor<1x4x64xf32>
    ```
  }];
  let arguments = (ins NN_Logits:$logits,
                       RankedTensorOf<[I32], [HasAnyRankOfPred<[3]>], "i32 [lanes, slots, tokens]">:$tokens,
                       RankedTensorOf<[AnyFloat], [HasAnyRankOfPred<[2]>], "[lanes, slots]">:$penalties);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, $output)";
}

def NN_TopOp : NN_Op<"top", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<DistributableOpInterface, ["getNewFactorSize"]>]> {
  let summary = "The largest logits of each row and their indices";
  let description = [{
    `y[b, m]` is a list of `count` pairs (value, index), sorted by value, largest
    first; among equal values the smaller index comes first. The values are the logits.

    With `sharpness` (an inverse temperature) and `draws`, the op samples (the
    Gumbel-max trick): the values are `logits[b, m, v] * sharpness[b, m]` plus Gumbel
    noise, so the index of the largest is a sample of the softmax of the first term.
    The logit follows each pair as a third number. The noise of index `v` is
    `-log(-log((w + 1/2) / 2^32))`, where `w` is the Philox word with counter
    (position, v) and the seed as the key. `draws[b, m]` holds the low half of the
    seed, its high half, and the position. If the position is negative, there is no
    noise.

    The list never holds NaN or -inf. If there are not enough other values, it ends in
    pairs (-inf, size of the vocabulary).

    On an axis that splits the vocabulary, the result has state `C` (candidates): each
    rank has the list of its part, with indices in the whole vocabulary.

    Example:

    ```mlir
    %drawn = nn.top %logits draw %sharpness, %draws {count = 1 : i64}
       : (tensor<1x4x64xf32>, tensor<1x4xf32>, tensor<1x4x3xi32>) -> tensor<1x4x1x3xf32>
    ```
  }];
  let arguments = (ins NN_Logits:$logits,
                       Optional<RankedTensorOf<[AnyFloat], [HasAnyRankOfPred<[2]>], "[lanes, slots]">>:$sharpness,
                       Optional<RankedTensorOf<[I32], [HasAnyRankOfPred<[3]>], "i32 [lanes, slots, 3]">>:$draws,
                       ConfinedAttr<I64Attr, [IntPositive]>:$count);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = [{
    $logits (`draw` $sharpness^ `,` $draws)? attr-dict `:` functional-type(operands, $output)
  }];
  let hasVerifier = 1;
}

#endif // TESSERA_DIALECT_NN_NNSAMPLINGOPS_TD
