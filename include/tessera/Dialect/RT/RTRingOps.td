//===- RTRingOps.td - attention over keys that come by -----*- tablegen -*-===//
// Ring attention (Liu et al. 2023, arXiv 2310.01889): a rank has some queries;
// the keys and values of all ranks pass by, one slice at a time.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_RT_RTRINGOPS_TD
#define TESSERA_DIALECT_RT_RTRINGOPS_TD

def RT_ShiftOp : RT_Op<"shift", [Pure, AllTypesMatch<["input", "result"]>, RT_Call<>, RT_Collective]> {
  let summary = "The tensor of an earlier rank, in a ring along one axis";
  let description = [{
    Every rank sends its tensor to the rank that comes `distance` later, by
    default the next one; after the last comes the first.
  }];
  let arguments = (ins AnyRankedTensor:$input, StrArrayAttr:$axes, UnitAttr:$async,
                       ConfinedAttr<DefaultValuedAttr<I64Attr, "1">, [IntPositive]>:$distance);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `over` $axes (`async` $async^)? attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def RT_ZigzagOp : RT_Op<"zigzag", [Pure, RT_Call<>, RT_Collective]> {
  let summary = "Converts a rank's slice of a dimension and chunks of balanced causal work";
  let description = [{
    With n ranks on the axis a dimension is cut into 2 n chunks. In whole slices
    rank r has chunks 2 r and 2 r + 1, one after the other; as two tensors it
    has chunks r and 2 n - 1 - r: an early and a late one. One operand is a
    whole slice and the results are its rank's two chunks, or two operands are
    chunks and the result is a slice.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, StrArrayAttr:$axes,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$dim, UnitAttr:$async);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let assemblyFormat = [{
    $inputs `along` $dim `over` $axes (`async` $async^)? attr-dict
    `:` type($inputs) `->` type($outputs)
  }];
  let extraClassDeclaration = [{
    /// The slice.
    ::mlir::Value getWhole() { return makesWhole() ? ::mlir::Value(getOutputs()[0]) : getInputs()[0]; }
    /// Whether the op makes a slice of chunks, and not chunks of a slice.
    bool makesWhole() { return getInputs().size() == 2; }
    ::mlir::Value getEarly() { return makesWhole() ? ::mlir::Value(getInputs()[0]) : getOutputs()[0]; }
    ::mlir::Value getLate() { return makesWhole() ? ::mlir::Value(getInputs()[1]) : getOutputs()[1]; }
  }];
  let hasVerifier = 1;
}

def RT_RingAttentionOp : RT_Op<"ring_attention", [Pure, AttrSizedOperandSegments, RT_Call<["getTiedOperand", "getOperandStride"]>,
                               DeclareOpInterfaceMethods<CostOpInterface, ["getFlops"]>]> {
  let summary = "Attention over one slice of the keys, added to that of earlier slices";
  let description = [{
    Like `rt.attention`, but the keys are those at the positions from `key_start`
    on, of `keys_total`. `earlier` is empty, or the output and lse for the slices
    before, whose buffers the results take. The output is f32 for bf16 queries. A slice
    that the causal mask or the window hides costs nothing. `segments` are those
    of all positions, [batch, `queries_total`] and [batch, `keys_total`]: they
    are few, so they are not passed on with the keys.
  }];
  let arguments = (ins AnyRankedTensor:$query, AnyRankedTensor:$key, AnyRankedTensor:$value,
                       I64:$batch_start, I64:$head_start, I64:$query_start, I64:$key_start,
                       Variadic<AnyRankedTensor>:$earlier,
                       I64Attr:$row_q, I64Attr:$row_k, I64Attr:$row_v,
                       I64Attr:$heads_total, F64Attr:$scale, BoolAttr:$causal,
                       F64Attr:$dropout, I64Attr:$stream, I64Attr:$queries_total, I64Attr:$keys_total,
                       DefaultValuedAttr<I64Attr, "0">:$window,
                       Optional<TensorOf<[I32]>>:$query_segments,
                       Optional<TensorOf<[I32]>>:$key_segments);
  let results = (outs AnyRankedTensor:$output, AnyRankedTensor:$lse);
  let assemblyFormat = [{
    $query `,` $key `,` $value `,` $batch_start `,` $head_start `,` $query_start `,` $key_start
    (`,` $earlier^)? (`segments` `(` $query_segments^ `,` $key_segments `)`)?
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def RT_RingAttentionGradOp : RT_Op<"ring_attention_grad", [Pure, AttrSizedOperandSegments, RT_Call<["getTiedOperand", "getOperandStride"]>,
                               DeclareOpInterfaceMethods<CostOpInterface, ["getFlops"]>]> {
  let summary = "Backward of attention for one slice of the keys";
  let description = [{
    `output` and `lse` are those for all keys. `earlier` is empty, or the
    query's gradient from the slices before, or those of key and value from
    other queries, or all three: results take their buffers and are added to
    them. All are f32 for bf16 operands.
  }];
  let arguments = (ins AnyRankedTensor:$grad, AnyRankedTensor:$query, AnyRankedTensor:$key,
                       AnyRankedTensor:$value, AnyRankedTensor:$output, AnyRankedTensor:$lse,
                       I64:$batch_start, I64:$head_start, I64:$query_start, I64:$key_start,
                       Variadic<AnyRankedTensor>:$earlier,
                       I64Attr:$row_q, I64Attr:$row_k, I64Attr:$row_v,
                       I64Attr:$heads_total, F64Attr:$scale, BoolAttr:$causal,
                       F64Attr:$dropout, I64Attr:$stream, I64Attr:$queries_total, I64Attr:$keys_total,
                       DefaultValuedAttr<I64Attr, "0">:$window,
                       Optional<TensorOf<[I32]>>:$query_segments,
                       Optional<TensorOf<[I32]>>:$key_segments);
  let results = (outs AnyRankedTensor:$grad_query, AnyRankedTensor:$grad_key,
                      AnyRankedTensor:$grad_value);
  let assemblyFormat = [{
    $grad `,` $query `,` $key `,` $value `,` $output `,` $lse `,` $batch_start `,` $head_start
    `,` $query_start `,` $key_start (`,` $earlier^)?
    (`segments` `(` $query_segments^ `,` $key_segments `)`)?
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // TESSERA_DIALECT_RT_RTRINGOPS_TD
