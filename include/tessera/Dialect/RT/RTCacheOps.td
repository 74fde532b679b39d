//===- RTCacheOps.td - caches of generation on one rank ----*- tablegen -*-===//

#ifndef TESSERA_DIALECT_RT_RTCACHEOPS_TD
#define TESSERA_DIALECT_RT_RTCACHEOPS_TD

def RT_AppendOp : RT_Op<"append", [Pure, AllTypesMatch<["cache", "result"]>,
                                   RT_Call<["getTiedOperand", "getOperandStride"]>]> {
  let summary = "Writes rows into a cache, as TSR_APPEND of runtime/tessera/abi.h";
  let description = [{
    The result is the cache's buffer. `rows` may be a strided view; `row` is the
    stride of its rows in elements.
  }];
  let arguments = (ins AnyRankedTensor:$cache, AnyRankedTensor:$rows, AnyRankedTensor:$slots,
                       AnyRankedTensor:$positions, I64Attr:$row);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $rows `at` $slots `,` $positions `into` $cache attr-dict `:`
    type($rows) `,` type($slots) `,` type($positions) `,` type($cache) `->` type($result)
  }];
}

def RT_CachedAttentionOp : RT_Op<"cached_attention", [Pure, RT_Call<["getOperandStride"]>,
                                 DeclareOpInterfaceMethods<CostOpInterface, ["getFlops"]>]> {
  let summary = "Attention over caches, as TSR_CACHED_ATTENTION of runtime/tessera/abi.h";
  let description = [{
    The query may be a strided view; `row` is the stride of its rows in elements.
  }];
  let arguments = (ins AnyRankedTensor:$query, AnyRankedTensor:$keys, AnyRankedTensor:$values,
                       AnyRankedTensor:$slots, AnyRankedTensor:$positions,
                       I64Attr:$row, F64Attr:$scale, I64Attr:$window);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $query `,` $keys `,` $values `at` $slots `,` $positions attr-dict `:`
    functional-type(operands, $result)
  }];
}

#endif // TESSERA_DIALECT_RT_RTCACHEOPS_TD
