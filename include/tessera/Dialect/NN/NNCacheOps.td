//===- NNCacheOps.td - rows of requests over caches --------*- tablegen -*-===//
// A step of generation runs rows: each has an id, a slot and a position. Lanes
// are independent groups of slots. Only the three ops below look across rows.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_NN_NNCACHEOPS_TD
#define TESSERA_DIALECT_NN_NNCACHEOPS_TD

include "tessera/Dialect/NN/NNAttention.td"
include "tessera/Dialect/NN/NNBase.td"

def NN_Cache : RankedTensorOf<[AnyFloat], [HasAnyRankOfPred<[5]>],
    "cache [lanes, slots, places, heads, head size]">;
/// Parts to which places are dealt in turn.
defvar NN_Deal = ConfinedAttr<DefaultValuedAttr<I64Attr, "1">, [IntPositive]>;
def NN_RowData : RankedTensorOf<[I32], [HasAnyRankOfPred<[2]>], "i32 [lanes, rows]">;

def NN_AppendOp : NN_Op<"append", [NN_TypedElement]> {
  let summary = "Writes new rows into a cache of keys or values";
  let description = [{
    `y[b, slots[b, s], positions[b, s] mod places] = new[b, s]` for each row whose slot
    is not negative; elsewhere `y = cache`. A slot holds the keys or values of one
    request, and a place those of one position; a lane is an independent group of
    slots. No two rows of a lane may have the same place of the same slot. The result
    takes the memory of the cache.

    With `deal = n`, positions are dealt in turn to n parts of the places, all of the
    same size: position p is at place `(p mod n) * (places / n) + (p mod places) / n`.
    So if n ranks share the places, they fill evenly. The number of ranks must be n.

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
  let summary = "Attention of each row over the cached keys and values of its slot";
  let description = [{
    Row `s` attends to positions 0 to `positions[b, s]` of its slot or, with a
    `window`, to the last `window` of them. No other place is read, so nothing is read
    that was not appended. The result for a row with a negative slot is 0. An attention
    that is not `causal` is one over a source: each row stands at the last position of
    its source.

    A position is at place `position mod places`, or where `deal` puts it, as in
    `nn.append`. So with a window, a cache may have fewer places than a text has
    positions, and wrap around, if `places >= window + rows of a slot in a step - 1`.

    A table [buckets, heads] adds a relative position bias, as in a causal
    `nn.attention`: it depends on the distance between the row's position and the
    cached one, up to `max_distance`. The attention must then be `causal`.

    On an axis that splits the places, the result has state `L` (partial mean): each
    rank has the mean over the places that it holds, and the logarithm of the weight
    of that mean, `log(sum of exp(score))`. If a rank holds none of the positions,
    these are 0 and -inf. In the program of one rank, such an op has `weighted`, and
    its result holds the logarithm after each head.

    Example:

    ```mlir
    %o = nn.cached_attention %q, %keys, %values at %slots, %positions <causal, scale = 0.25>
       : (tensor<1x6x2x3x8xf32>, tensor<1x4x16x2x8xf32>, tensor<1x4x16x2x8xf32>, tensor<1x6xi32>, tensor<1x6xi32>) -> tensor<1x6x2x3x8xf32>
    ```
  }];
  let arguments = (ins NN_Heads:$query, NN_Cache:$keys, NN_Cache:$values, NN_RowData:$slots,
                       NN_RowData:$positions, Optional<AnyRankedTensor>:$bias_table,
                       NN_AttentionAttr:$attention, NN_Deal:$deal, UnitAttr:$weighted);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = [{
    $query `,` $keys `,` $values `at` $slots `,` $positions (`bias` $bias_table^)?
    $attention attr-dict `:` functional-type(operands, $output)
  }];
  let hasVerifier = 1;
}

def NN_TakeOp : NN_Op<"take"> {
  let summary = "Takes the rows with the given numbers";
  let description = [{
    `y[b, m] = x[b, numbers[b, m]]`, or 0 if the number is negative.

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
