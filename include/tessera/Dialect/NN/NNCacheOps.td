//===- NNCacheOps.td - rows of requests over caches --------*- tablegen -*-===//
// A step of generation runs rows: each has an id, a slot and a position. Lanes
// are independent groups of slots. Only the three ops below look across rows.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_NN_NNCACHEOPS_TD
#define TESSERA_DIALECT_NN_NNCACHEOPS_TD

include "tessera/Dialect/NN/NNBase.td"

def NN_Cache : RankedTensorOf<[AnyFloat], [HasAnyRankOfPred<[5]>],
    "cache [lanes, slots, places, heads, head size]">;
/// Parts to which places are dealt in turn.
defvar NN_Deal = ConfinedAttr<DefaultValuedAttr<I64Attr, "1">, [IntPositive]>;
def NN_RowData : RankedTensorOf<[I32], [HasAnyRankOfPred<[2]>], "i32 [lanes, rows]">;

def NN_AppendOp : NN_Op<"append", [NN_TypedElement]> {
  let summary = "A cache with new rows at their slots and positions";
  let description = [{
    `y = cache` but for `y[b, slots[b, s], positions[b, s] mod places] =
    new[b, s]` of each row whose slot is not negative. Rows of a lane have
    different slots or places. The result takes the memory of the cache.

    With `deal = n` the places are dealt in turn to n parts of equal size: position
    p is at place `(p mod n) * (places / n) + (p mod places) / n`. So the n ranks
    that share the places, and must be as many, fill evenly.

    Example:

    ```mlir
    %y = nn.append %cache, %new at %slots, %positions
       : (tensor<1x4x16x2x8xf32>, tensor<1x6x2x8xf32>, tensor<1x6xi32>, tensor<1x6xi32>) -> tensor<1x4x16x2x8xf32>
    ```
  }];
  let arguments = (ins NN_Cache:$cache, NN_Heads:$rows, NN_RowData:$slots, NN_RowData:$positions,
                       NN_Deal:$deal);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "$cache `,` $rows `at` $slots `,` $positions attr-dict `:` functional-type(operands, $output)";
  let hasVerifier = 1;
}

def NN_CachedAttentionOp : NN_Op<"cached_attention", [NN_Cost,
    DeclareOpInterfaceMethods<DistributableOpInterface, ["getNewFactorSize", "getResultElementType"]>]> {
  let summary = "Attention of each row over the past of its slot";
  let description = [{
    Row `s` reads the places of positions 0 to `positions[b, s]` of its slot or,
    with a `window`, of the last so many of them, and nothing else: what was not
    appended is never read. A row whose slot is negative gives 0. A position is at
    the place `position mod places`, or dealt as in `nn.append`, so a window of
    fewer positions may wrap around: `places >= window + rows of a slot in a step -
    1`.

    A table [buckets, heads] adds a bias that depends on the distance of a row's
    position and that of a place, as a causal `nn.attention` does, to
    `max_distance`.

    On an axis that splits places the result is `L`: a rank has the mean over the
    places that it holds and the logarithm of the sum of their weights,
    `log(sum of exp(score))`; over none these are 0 and -inf. On one rank this is
    an op with `weighted`, whose result has the logarithm after each head.

    Example:

    ```mlir
    %o = nn.cached_attention %q, %keys, %values at %slots, %positions {scale = 0.25 : f64}
       : (tensor<1x6x2x3x8xf32>, tensor<1x4x16x2x8xf32>, tensor<1x4x16x2x8xf32>, tensor<1x6xi32>, tensor<1x6xi32>) -> tensor<1x6x2x3x8xf32>
    ```
  }];
  let arguments = (ins NN_Heads:$query, NN_Cache:$keys, NN_Cache:$values, NN_RowData:$slots,
                       NN_RowData:$positions, Optional<AnyRankedTensor>:$bias_table, F64Attr:$scale,
                       DefaultValuedAttr<I64Attr, "0">:$window, NN_Deal:$deal,
                       UnitAttr:$weighted, DefaultValuedAttr<I64Attr, "0">:$max_distance);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = [{
    $query `,` $keys `,` $values `at` $slots `,` $positions (`bias` $bias_table^)?
    attr-dict `:` functional-type(operands, $output)
  }];
  let hasVerifier = 1;
}

def NN_TakeOp : NN_Op<"take"> {
  let summary = "Rows by their number";
  let description = [{
    `y[b, m] = x[b, numbers[b, m]]`, and 0 where the number is negative.

    Example:

    ```mlir
    %y = nn.take %x, %numbers : (tensor<1x6x16xf32>, tensor<1x4xi32>) -> tensor<1x4x16xf32>
    ```
  }];
  let arguments = (ins RankedTensorOf<[AnyFloat], [HasAnyRankOfPred<[3]>]>:$input,
                       NN_RowData:$numbers);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, $output)";
}

#endif // TESSERA_DIALECT_NN_NNCACHEOPS_TD
