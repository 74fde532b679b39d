//===- RTCacheOps.td - caches of generation on one rank ----*- tablegen -*-===//

#ifndef TESSERA_DIALECT_RT_RTCACHEOPS_TD
#define TESSERA_DIALECT_RT_RTCACHEOPS_TD

defvar RT_Deal = ConfinedAttr<DefaultValuedAttr<I64Attr, "1">, [IntPositive]>;

def RT_AppendOp : RT_Op<"append", [Pure, AllTypesMatch<["cache", "result"]>,
                                   RT_Call<["getTiedOperand", "getOperandStride"]>]> {
  let summary = "Writes rows into a cache, as TSR_APPEND of runtime/tessera/abi.h";
  let description = [{
    The result is the cache's buffer. `rows` may be a strided view; `row` is the
    stride of its rows in elements. Of places that are dealt to `deal` ranks the
    rank has those from `start` on, and writes rows of these alone.
  }];
  let arguments = (ins AnyRankedTensor:$cache, AnyRankedTensor:$rows, AnyRankedTensor:$slots,
                       AnyRankedTensor:$positions, I64Attr:$row, RT_Deal:$deal,
                       Optional<I64>:$start);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $rows `at` $slots `,` $positions `into` $cache (`from` $start^)? attr-dict `:`
    type($rows) `,` type($slots) `,` type($positions) `,` type($cache) `->` type($result)
  }];
}

def RT_CachedAttentionOp : RT_Op<"cached_attention", [Pure, AttrSizedOperandSegments, RT_Call<["getOperandStride"]>,
                                 DeclareOpInterfaceMethods<CostOpInterface, ["getFlops"]>]> {
  let summary = "Attention over caches, as TSR_CACHED_ATTENTION of runtime/tessera/abi.h";
  let description = [{
    The query may be a strided view; `row` is the stride of its rows in elements.
    Of places that are dealt to `deal` ranks the caches hold those from `start` on.
    `weighted` results are partial means: of each head, in f32 or f64, the mean and
    the logarithm of its weight.
  }];
  let arguments = (ins AnyRankedTensor:$query, AnyRankedTensor:$keys, AnyRankedTensor:$values,
                       AnyRankedTensor:$slots, AnyRankedTensor:$positions,
                       I64Attr:$row, F64Attr:$scale, I64Attr:$window, RT_Deal:$deal,
                       Optional<I64>:$start, UnitAttr:$weighted,
                       Optional<AnyRankedTensor>:$bias_table,
                       DefaultValuedAttr<I64Attr, "0">:$max_distance);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $query `,` $keys `,` $values `at` $slots `,` $positions (`from` $start^)?
    (`bias` $bias_table^)? attr-dict `:` functional-type(operands, $result)
  }];
  let hasVerifier = 1;
}

def RT_MergeMeansOp : RT_Op<"merge_means", [Pure, RT_Call<>]> {
  let summary = "Merges partial means of several ranks, as TSR_MERGE_MEANS of runtime/tessera/abi.h";
  let description = [{
    `parts` are those of the ranks one after the other along dimension 0; the last
    dimension has a mean and the logarithm of its weight. The result is the mean of
    the means, each with its weight; if it is a partial mean of other ranks, the
    logarithm of the sum of the weights follows each.
  }];
  let arguments = (ins AnyRankedTensor:$parts);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$parts attr-dict `:` type($parts) `->` type($result)";
  let extraClassDeclaration = [{
    /// Ranks whose means are merged.
    int64_t getRanks();
    /// Whether the result has weights, too.
    bool keepsWeights();
  }];
  let hasVerifier = 1;
}

#endif // TESSERA_DIALECT_RT_RTCACHEOPS_TD
