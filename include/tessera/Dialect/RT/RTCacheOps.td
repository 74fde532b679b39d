//===- RTCacheOps.td - caches of generation on one rank ----*- tablegen -*-===//

#ifndef TESSERA_DIALECT_RT_RTCACHEOPS_TD
#define TESSERA_DIALECT_RT_RTCACHEOPS_TD

defvar RT_Deal = ConfinedAttr<DefaultValuedAttr<I64Attr, "1">, [IntPositive]>;

def RT_AppendOp : RT_Op<"append", [Pure, AllTypesMatch<["cache", "result"]>,
                                   RT_Call<["getTiedOperand", "getOperandStride"]>]> {
  let summary = "Writes new rows into a cache of keys or values, in place";
  let description = [{
    `nn.append` on one rank: the entry `append` in
    runtime/include/tessera/abi_arguments.h. The result takes the buffer of the cache.
    `rows` may be a strided view whose rows are `row` elements apart. If the places of
    a slot are dealt to several ranks, `deal` is the number of these ranks, and `start`
    is the index of the first place that this rank holds. The rank then writes only
    the rows whose place it holds.
  }];
  let arguments = (ins AnyRankedTensor:$cache, AnyRankedTensor:$rows, AnyRankedTensor:$slots,
                       AnyRankedTensor:$positions, I64Attr:$row, RT_Deal:$deal,
                       Optional<I64>:$start);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $rows `at` $slots `,` $positions `into` $cache (`from` $start^)? attr-dict `:`
    type($rows) `,` type($slots) `,` type($positions) `,` type($cache) `->` type($result)
  }];
  let hasVerifier = 1;
}

def RT_CachedAttentionOp : RT_Op<"cached_attention", [Pure, AttrSizedOperandSegments, RT_Call<["getOperandStride"]>,
                                 DeclareOpInterfaceMethods<CostOpInterface, ["getFlops"]>]> {
  let summary = "Attention of each row over the cached keys and values of its slot";
  let description = [{
    `nn.cached_attention` on one rank: the entry `cached_attention` in
    runtime/include/tessera/abi_arguments.h. The query may be a strided view whose rows
    are `row` elements apart. `deal` and `start` are those of `rt.append`: the op attends
    to the places that this rank holds. With `weighted`, the result is a partial mean
    (state `L`) in f32 or f64: each head is followed by the logarithm of its weight.
  }];
  let arguments = (ins AnyRankedTensor:$query, AnyRankedTensor:$keys, AnyRankedTensor:$values,
                       AnyRankedTensor:$slots, AnyRankedTensor:$positions,
                       I64Attr:$row, NN_AttentionAttr:$attention, RT_Deal:$deal,
                       Optional<I64>:$start, UnitAttr:$weighted,
                       Optional<AnyRankedTensor>:$bias_table);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $query `,` $keys `,` $values `at` $slots `,` $positions (`from` $start^)?
    (`bias` $bias_table^)? $attention attr-dict `:` functional-type(operands, $result)
  }];
  let hasVerifier = 1;
}

def RT_MergeMeansOp : RT_Op<"merge_means", [Pure, RT_Call<>]> {
  let summary = "Merges the partial means of several ranks";
  let description = [{
    The entry `merge_means` in runtime/include/tessera/abi_arguments.h. `parts` holds
    the partial means of the ranks, one rank after the other along dimension 0. Its
    last dimension holds a mean and then the logarithm of the mean's weight. The
    result is the weighted mean of these means. If it is itself a partial mean, each
    mean is followed by the logarithm of the sum of the weights.
  }];
  let arguments = (ins AnyRankedTensor:$parts);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$parts attr-dict `:` type($parts) `->` type($result)";
  let extraClassDeclaration = [{
    /// Ranks whose means are merged.
    int64_t getRanks();
    /// Returns whether the result has weights, too.
    bool keepsWeights();
  }];
  let hasVerifier = 1;
}

#endif // TESSERA_DIALECT_RT_RTCACHEOPS_TD
