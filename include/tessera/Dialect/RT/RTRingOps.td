//===- RTRingOps.td - attention over keys that come by -----*- tablegen -*-===//
// Ring attention (Liu et al. 2023, arXiv 2310.01889): a rank has some queries;
// the keys and values of all ranks pass by, one slice at a time.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_RT_RTRINGOPS_TD
#define TESSERA_DIALECT_RT_RTRINGOPS_TD

def RT_ShiftOp : RT_Op<"shift", [Pure, AllTypesMatch<["input", "result"]>, RT_Call<>, RT_Collective]> {
  let summary = "Passes a tensor on around the ring of one mesh axis";
  let description = [{
    Every rank sends its tensor to the rank `distance` places further along the axis
    (by default the next one); the last rank is followed by the first. The result is
    the tensor that the rank receives.
  }];
  let arguments = (ins AnyRankedTensor:$input, StrArrayAttr:$axes, UnitAttr:$async,
                       ConfinedAttr<DefaultValuedAttr<I64Attr, "1">, [IntPositive]>:$distance);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `over` $axes (`async` $async^)? attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def RT_ZigzagOp : RT_Op<"zigzag", [Pure, RT_Call<>, RT_Collective]> {
  let summary = "Converts between contiguous and zig-zag order of a sharded dimension";
  let description = [{
    On an axis of n ranks, the dimension is cut into 2 n chunks. In contiguous order
    rank r holds chunks 2 r and 2 r + 1 as one tensor, its slice. In zig-zag order it
    holds chunks r (early) and 2 n - 1 - r (late) as two tensors, so that causal
    attention is the same work for every rank. With one operand, the op takes a slice
    and returns the two chunks. With two operands, it takes the chunks and returns
    the slice.
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
    /// Returns whether the op makes a slice of chunks, and not chunks of a
    /// slice.
    bool makesWhole() { return getInputs().size() == 2; }
    ::mlir::Value getEarly() { return makesWhole() ? ::mlir::Value(getInputs()[0]) : getOutputs()[0]; }
    ::mlir::Value getLate() { return makesWhole() ? ::mlir::Value(getInputs()[1]) : getOutputs()[1]; }
  }];
  let hasVerifier = 1;
}

def RT_RingAttentionOp : RT_Op<"ring_attention", [Pure, AttrSizedOperandSegments, RT_Call<["getTiedOperand", "getOperandStride", "describe"]>,
                               DeclareOpInterfaceMethods<CostOpInterface, ["getFlops"]>]> {
  let summary = "Attention over one slice of the keys, merged with that over earlier slices";
  let description = [{
    Like `rt.attention`, but the keys are a slice of `keys_total` positions that begins
    at `key_start`. For the first slice `earlier` is empty. For others it holds the
    output and `lse` over the slices before, and the results take these buffers. The
    output is f32 if the queries are bf16. A slice that the causal mask or the window
    hides completely costs nothing. `segments` are those of all positions, [batch,
    `queries_total`] and [batch, `keys_total`]: they are small, so they do not travel
    around the ring with the keys.
  }];
  let arguments = (ins AnyRankedTensor:$query, AnyRankedTensor:$key, AnyRankedTensor:$value,
                       I64:$batch_start, I64:$head_start, I64:$query_start, I64:$key_start,
                       Variadic<AnyRankedTensor>:$earlier,
                       I64Attr:$row_q, I64Attr:$row_k, I64Attr:$row_v,
                       I64Attr:$heads_total, NN_AttentionAttr:$attention,
                       F64Attr:$dropout, I64Attr:$stream, I64Attr:$queries_total, I64Attr:$keys_total,
                       Optional<TensorOf<[I32]>>:$query_segments,
                       Optional<TensorOf<[I32]>>:$key_segments);
  let results = (outs AnyRankedTensor:$output, AnyRankedTensor:$lse);
  let assemblyFormat = [{
    $query `,` $key `,` $value `,` $batch_start `,` $head_start `,` $query_start `,` $key_start
    (`,` $earlier^)? (`segments` `(` $query_segments^ `,` $key_segments `)`)?
    $attention attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def RT_RingAttentionGradOp : RT_Op<"ring_attention_grad", [Pure, AttrSizedOperandSegments, RT_Call<["getTiedOperand", "getOperandStride", "describe"]>,
                               DeclareOpInterfaceMethods<CostOpInterface, ["getFlops"]>]> {
  let summary = "Backward of attention for one slice of the keys";
  let description = [{
    `output` and `lse` are those over all keys. `earlier` holds gradients so far: that
    of the query from the slices before, those of key and value from other queries,
    all three, or none. The op adds to these gradients in place, and its results take
    their buffers. Gradients are f32 if the operands are bf16.
  }];
  let arguments = (ins AnyRankedTensor:$grad, AnyRankedTensor:$query, AnyRankedTensor:$key,
                       AnyRankedTensor:$value, AnyRankedTensor:$output, AnyRankedTensor:$lse,
                       I64:$batch_start, I64:$head_start, I64:$query_start, I64:$key_start,
                       Variadic<AnyRankedTensor>:$earlier,
                       I64Attr:$row_q, I64Attr:$row_k, I64Attr:$row_v,
                       I64Attr:$heads_total, NN_AttentionAttr:$attention,
                       F64Attr:$dropout, I64Attr:$stream, I64Attr:$queries_total, I64Attr:$keys_total,
                       Optional<TensorOf<[I32]>>:$query_segments,
                       Optional<TensorOf<[I32]>>:$key_segments);
  let results = (outs AnyRankedTensor:$grad_query, AnyRankedTensor:$grad_key,
                      AnyRankedTensor:$grad_value);
  let assemblyFormat = [{
    $grad `,` $query `,` $key `,` $value `,` $output `,` $lse `,` $batch_start `,` $head_start
    `,` $query_start `,` $key_start (`,` $earlier^)?
    (`segments` `(` $query_segments^ `,` $key_segments `)`)?
    $attention attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // TESSERA_DIALECT_RT_RTRINGOPS_TD
