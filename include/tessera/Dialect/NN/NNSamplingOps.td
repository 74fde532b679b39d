//===- NNSamplingOps.td - what sampling needs of logits ----*- tablegen -*-===//

#ifndef TESSERA_DIALECT_NN_NNSAMPLINGOPS_TD
#define TESSERA_DIALECT_NN_NNSAMPLINGOPS_TD

include "tessera/Dialect/NN/NNBase.td"

def NN_Logits : RankedTensorOf<[AnyFloat], [HasAnyRankOfPred<[3]>],
    "logits [lanes, slots, vocabulary]">;

def NN_PenalizeOp : NN_Op<"penalize"> {
  let summary = "Logits with those of repeated tokens made smaller";
  let description = [{
    `y[b, m, v] = x / p` where `v` is among `tokens[b, m]` and the logit `x =
    logits[b, m, v]` is above 0, `x * p` where it is among them and `x` is not, and
    `x` elsewhere, with `p = penalties[b, m]` (Keskar et al. 2019, section 4.1, with
    the sign that keeps it a penalty below 0). Negative tokens name nothing. Where a
    penalty is 1, the row's tokens are not read.

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
    `y[b, m]` is a list of `count` pairs (value, index), the largest value first, of
    equal values the smaller index first. Values are the logits. With `sharpness`
    and `draws` they are `logits[b, m, v] * sharpness[b, m]` + Gumbel noise, whose
    largest is a sample of the softmax of the first term, and a third number follows
    each pair, the logit. The noise of index `v` is `-log(-log((w + 1/2) / 2^32))`,
    where `w` is the Philox word with counter (position, v) and the seed as the key;
    `draws[b, m]` are the low and the high half of the seed, and the position. If
    the position is negative, there is no noise.

    NaN and -inf are never among them. Where there are not enough values, the pairs
    that are left are (-inf, size of the vocabulary).

    On an axis that splits the vocabulary the result is `C`: each rank has the
    candidates of its part, with indices of the whole vocabulary.

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
