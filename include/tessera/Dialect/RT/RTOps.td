//===- RTOps.td - the lowered program of one rank ----------*- tablegen -*-===//
// Shapes are local. Values are tensors in SSA form until the memory plan gives
// each a static offset in the rank's arena (`rt.offset`); every op is then one
// call of the runtime or one kernel launch. What is predicted is what runs.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_RT_RTOPS_TD
#define TESSERA_DIALECT_RT_RTOPS_TD

include "tessera/Dialect/Dist/DistInterfaces.td"
include "tessera/Dialect/NN/NNAttention.td"
include "tessera/Dialect/NN/NNInterfaces.td"
include "tessera/Dialect/RT/RTInterfaces.td"
include "mlir/IR/DialectBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def RT_Dialect : Dialect {
  let name = "rt";
  let cppNamespace = "::tessera::rt";
  let summary = "The lowered program of one rank: a straight list of ops";
  let description = [{
    `func @step` holds the program of a training step. With pipeline stages, each
    stage has a function of its own: `@step_0`, `@step_1`, ... Tensors have local
    shapes. An encoding only describes how rows are laid out in memory
    (`#rt.row_stride`). Scalars (i64) are values that differ by rank or change during
    a run: the mesh coordinates of the rank, the micro-batch, the step. Kernels are
    private functions of `linalg` ops with the attribute `rt.schedule`. The memory
    plan gives each tensor an offset in the rank's arena. It stores that of a function
    argument in `rt.offset`, and those of an op's tensor results in `rt.offsets`.
  }];
  let dependentDialects = ["::tessera::nn::NNDialect"]; // ops carry its attributes
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    static constexpr ::llvm::StringLiteral kScheduleAttr = "rt.schedule";
    static constexpr ::llvm::StringLiteral kOffsetAttr = "rt.offset";
    static constexpr ::llvm::StringLiteral kOffsetsAttr = "rt.offsets";
    /// On a function argument: its global, distributed type (TypeAttr).
    static constexpr ::llvm::StringLiteral kGlobalAttr = "rt.global";
    /// On a local nn op: the spans of split factors, {letter: #span}.
    static constexpr ::llvm::StringLiteral kFactorsAttr = "rt.factors";
    /// On an op whose results verify compares: [{name, global type} per result].
    static constexpr ::llvm::StringLiteral kKeepAttr = "rt.keep";
    /// On a kernel: [[argument, result]] that may have the same memory.
    static constexpr ::llvm::StringLiteral kMayShareAttr = "rt.may_share";
    /// On a launch: so many launches right after it are of the same kernel, and
    /// all of them may run at the same time.
    static constexpr ::llvm::StringLiteral kFollowersAttr = "rt.followers";
    /// On an op whose results have a role: [{nn.role, nn.param} per result].
    static constexpr ::llvm::StringLiteral kRoleAttr = "rt.role";
    /// On a function: the pipeline stage that runs it; only where there are
    /// several.
    static constexpr ::llvm::StringLiteral kStageAttr = "rt.stage";
    /// On a function with tasks: what runs when, as pairs of a task's number and
    /// a micro-batch; and by frame, its offset for each micro-batch of the loop.
    static constexpr ::llvm::StringLiteral kOrderAttr = "rt.order";
    static constexpr ::llvm::StringLiteral kFramesAttr = "rt.frames";
    /// On an op: its micro-batch, where that is no loop's iteration.
    static constexpr ::llvm::StringLiteral kMicroBatchAttr = "rt.micro_batch";
    /// On the module: the messages and collectives that rt-check-messages has
    /// checked.
    static constexpr ::llvm::StringLiteral kMessagesAttr = "rt.messages";
    /// On the module: the pipeline schedule as JSON, docs/Artifact.md.
    static constexpr ::llvm::StringLiteral kPipelineAttr = "rt.pipeline";
    /// Bytes of the arena, and of what it holds at the peak: on the function of
    /// a stage, else on the module.
    static constexpr ::llvm::StringLiteral kArenaAttr = "rt.arena";
    static constexpr ::llvm::StringLiteral kArenaByKindAttr = "rt.arena_by_kind";
  }];
}

def RT_RowStrideAttr : AttrDef<RT_Dialect, "RowStride",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let mnemonic = "row_stride";
  let summary = "Rows along the last dimension of a tensor are `stride` elements apart";
  let description = [{
    In `tensor<8x50257xbf16, #rt.row_stride<50304>>`, the 50257 elements of each row are
    followed by padding. Only matrix products (through their leading dimensions) and
    kernels can read and write such rows.
  }];
  let parameters = (ins "int64_t":$stride);
  let assemblyFormat = "`<` $stride `>`";
}

class RT_Op<string mnemonic, list<Trait> traits = []> :
    Op<RT_Dialect, mnemonic, !listconcat([Dist_OnTensors], traits)>;

/// An op that the runtime executes, with the facts that it states of buffers.
class RT_Call<list<string> facts = []> : DeclareOpInterfaceMethods<RuntimeCallOpInterface, facts>;

/// A call that the ranks of a group make together.
def RT_Collective : DeclareOpInterfaceMethods<CollectiveOpInterface, ["getCollective", "getWholes"]>;

defvar RT_I64s = Variadic<I64>;
defvar RT_Positive = ConfinedAttr<I64Attr, [IntPositive]>;

// ------------------------------------------------------------------ scalars

def RT_CoordOp : RT_Op<"coord", [Pure]> {
  let summary = "The rank's coordinate on a mesh axis";
  let arguments = (ins StrAttr:$axis);
  let results = (outs I64:$result);
  let assemblyFormat = "$axis attr-dict";
}

def RT_StepOp : RT_Op<"step", [Pure]> {
  let summary = "Number of the optimizer step, from 0";
  let results = (outs I64:$result);
  let assemblyFormat = "attr-dict";
}

def RT_SeedOp : RT_Op<"seed", [Pure]> {
  let summary = "Seed of the session";
  let results = (outs I64:$result);
  let assemblyFormat = "attr-dict";
}

def RT_StreamKeyOp : RT_Op<"stream_key", [Pure]> {
  let summary = "Philox key of a random stream: tsr_abi_stream in runtime/include/tessera/abi.h";
  let arguments = (ins I64:$seed, I64:$step, I64Attr:$stream);
  let results = (outs I64:$result);
  let assemblyFormat = "$seed `,` $step `,` $stream attr-dict";
}

// ------------------------------------------------------------------ compute

def RT_LaunchOp : RT_Op<"launch", [Pure, AttrSizedOperandSegments, RT_Call<["describe"]>]> {
  let summary = "Runs a fused kernel over its parallel dimension";
  let description = [{
    `count` is the number of rows (schedule "row") or columns (schedule "column").
    Each thread processes ranges of them whose lengths are multiples of `grain`; only
    the last may be shorter.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<AnyRankedTensor>:$inputs,
                       RT_I64s:$scalars, RT_Positive:$count, RT_Positive:$grain);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let assemblyFormat = [{
    $kernel `(` $inputs `)` (`scalars` `(` $scalars^ `)`)? attr-dict
    `:` functional-type($inputs, $outputs)
  }];
}

def RT_GemmOperand : I32EnumAttr<"GemmOperand", "an operand of a matrix product", [
    I32EnumAttrCase<"A", 0, "a">, I32EnumAttrCase<"B", 1, "b">]> {
  let cppNamespace = "::tessera::rt";
}

def RT_GemmOp : RT_Op<"gemm", [Pure, AttrSizedOperandSegments, AttrSizedResultSegments,
                               RT_Call<["getTiedOperand", "getOperandStride", "getResultStride", "describe"]>,
                               DeclareOpInterfaceMethods<CostOpInterface, ["getFlops"]>]> {
  let summary = "Matrix product with an optional bias, accumulator and epilogue";
  let description = [{
    `c[m,n] = op(a) op(b) (+ bias[n]) (+ accumulator)`: the entry `gemm` in
    runtime/include/tessera/abi_arguments.h. If there is an accumulator, the result
    takes its buffer. With `chunks`, k is [`outer`, `chunks`, rest], and the sums of the
    chunks are added as a balanced tree (the entry `chunked_gemm`).

    An op has at most one epilogue:

    * With the result `saved`, `saved` is the product with its bias, and `c` is
      gelu_tanh of `saved`.
    * With the operand `gelu_grad(x)`, `c` is the product times gelu_tanh'(x).
    * `summing a` adds the result `sums` [m], the sum of op(a) over k. `summing b` adds
      the result `sums` [n], the sum of op(b) over k.

    `saved` and `x` are contiguous.
  }];
  let arguments = (ins AnyRankedTensor:$a, AnyRankedTensor:$b, Optional<AnyRankedTensor>:$bias,
                       Optional<AnyRankedTensor>:$accumulator, Optional<AnyRankedTensor>:$gelu_input,
                       I64Attr:$m, I64Attr:$n, I64Attr:$k, I64Attr:$lda, I64Attr:$ldb, I64Attr:$ldc,
                       BoolAttr:$trans_a, BoolAttr:$trans_b,
                       OptionalAttr<I64Attr>:$chunks, DefaultValuedAttr<I64Attr, "1">:$outer,
                       OptionalAttr<RT_GemmOperand>:$sums_of);
  let builders = [OpBuilder<(ins "::mlir::Type":$c, "::mlir::Value":$a, "::mlir::Value":$b,
                                 "::mlir::IntegerAttr":$m, "::mlir::IntegerAttr":$n,
                                 "::mlir::IntegerAttr":$k, "::mlir::IntegerAttr":$lda,
                                 "::mlir::IntegerAttr":$ldb, "::mlir::IntegerAttr":$ldc,
                                 "::mlir::BoolAttr":$trans_a, "::mlir::BoolAttr":$trans_b), [{
    build($_builder, $_state, c, ::mlir::Type(), ::mlir::Type(), a, b, ::mlir::Value(), ::mlir::Value(),
          ::mlir::Value(), m, n, k, lda, ldb, ldc, trans_a, trans_b, ::mlir::IntegerAttr(),
          $_builder.getI64IntegerAttr(1), GemmOperandAttr());
  }]>];
  let results = (outs AnyRankedTensor:$c, Optional<AnyRankedTensor>:$saved,
                      Optional<AnyRankedTensor>:$sums);
  let assemblyFormat = [{
    $a `,` $b (`bias` `(` $bias^ `:` type($bias) `)`)?
    (`into` `(` $accumulator^ `:` type($accumulator) `)`)?
    (`gelu_grad` `(` $gelu_input^ `:` type($gelu_input) `)`)? (`summing` $sums_of^)?
    attr-dict `:` type($a) `,` type($b) `->` type($c) (`saving` type($saved)^)?
    (`sums` type($sums)^)?
  }];
  let hasVerifier = 1;
}

def RT_AttentionOp : RT_Op<"attention", [Pure, AttrSizedOperandSegments, RT_Call<["getOperandStride", "describe"]>,
                               DeclareOpInterfaceMethods<CostOpInterface, ["getFlops"]>]> {
  let summary = "Attention, computed block by block";
  let description = [{
    The entry `attention` in runtime/include/tessera/abi_arguments.h. Operands may be
    strided views: `row_q`, `row_k` and `row_v` are the distances between consecutive
    sequence positions, in elements. The causal mask and dropout depend on where the
    rank's tensors lie in the global ones. `batch_start` and `head_start` say where
    their batch and heads begin there; `query_start` (0 when absent) is the position of
    the first query, out of `queries_total` (0 if the rank has all queries). The table
    of a relative position bias has the element type of `lse`. `segments` are those of
    the rank's queries and keys.
  }];
  let arguments = (ins AnyRankedTensor:$query, AnyRankedTensor:$key, AnyRankedTensor:$value,
                       I64:$batch_start, I64:$head_start,
                       I64Attr:$row_q, I64Attr:$row_k, I64Attr:$row_v,
                       I64Attr:$heads_total, NN_AttentionAttr:$attention,
                       F64Attr:$dropout, I64Attr:$stream, Optional<I64>:$query_start,
                       DefaultValuedAttr<I64Attr, "0">:$queries_total,
                       Optional<AnyRankedTensor>:$bias_table,
                       Optional<TensorOf<[I32]>>:$query_segments,
                       Optional<TensorOf<[I32]>>:$key_segments);
  let results = (outs AnyRankedTensor:$output, AnyRankedTensor:$lse);
  let assemblyFormat = [{
    $query `,` $key `,` $value `,` $batch_start `,` $head_start (`,` $query_start^)?
    (`bias` `(` $bias_table^ `)`)? (`segments` `(` $query_segments^ `,` $key_segments `)`)?
    $attention attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def RT_AttentionGradOp : RT_Op<"attention_grad", [Pure, AttrSizedOperandSegments, RT_Call<["getOperandStride", "getResultStride", "describe"]>,
                               DeclareOpInterfaceMethods<CostOpInterface, ["getFlops"]>]> {
  let summary = "Backward of `rt.attention`; recomputes the probabilities from `lse`";
  let arguments = (ins AnyRankedTensor:$grad, AnyRankedTensor:$query, AnyRankedTensor:$key,
                       AnyRankedTensor:$value, AnyRankedTensor:$output, AnyRankedTensor:$lse,
                       I64:$batch_start, I64:$head_start,
                       I64Attr:$row_q, I64Attr:$row_k, I64Attr:$row_v,
                       I64Attr:$row_dq, I64Attr:$row_dk, I64Attr:$row_dv,
                       I64Attr:$heads_total, NN_AttentionAttr:$attention,
                       F64Attr:$dropout, I64Attr:$stream, Optional<I64>:$query_start,
                       DefaultValuedAttr<I64Attr, "0">:$queries_total,
                       Optional<AnyRankedTensor>:$bias_table,
                       Optional<TensorOf<[I32]>>:$query_segments,
                       Optional<TensorOf<[I32]>>:$key_segments);
  let results = (outs AnyRankedTensor:$grad_query, AnyRankedTensor:$grad_key,
                      AnyRankedTensor:$grad_value,
                      Optional<AnyRankedTensor>:$grad_bias_table);
  let assemblyFormat = [{
    $grad `,` $query `,` $key `,` $value `,` $output `,` $lse `,` $batch_start `,` $head_start
    (`,` $query_start^)? (`bias` `(` $bias_table^ `)`)?
    (`segments` `(` $query_segments^ `,` $key_segments `)`)? $attention attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def RT_ScatterAddOp : RT_Op<"scatter_add", [Pure, AllTypesMatch<["table", "result"]>, RT_Call<["getTiedOperand", "describe"]>]> {
  let summary = "Adds rows to the rows of a table that `ids` names, in place";
  let description = [{
    Row `r` of `source` is added to row `ids[r] - start` of `table` if that number is in
    [0, valid); otherwise it is skipped. The result takes the buffer of `table`. With
    `chunks`, the rows are [`chunks`, rest], and the sums of the chunks are added as a
    balanced tree (the entry `chunked_scatter_add` in
    runtime/include/tessera/abi_arguments.h).
  }];
  let arguments = (ins AnyRankedTensor:$source, AnyRankedTensor:$ids, AnyRankedTensor:$table,
                       I64:$start, I64:$valid, OptionalAttr<I64Attr>:$chunks);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $source `,` $ids `into` $table `at` $start `,` $valid attr-dict
    `:` type($source) `,` type($ids) `,` type($table) `->` type($result)
  }];
}

def RT_ZeroOp : RT_Op<"zero", [Pure, RT_Call<>]> {
  let summary = "A buffer of zeros";
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def RT_CopyOp : RT_Op<"copy", [Pure, AllTypesMatch<["input", "result"]>, RT_Call<>]> {
  let summary = "Copies a tensor to a buffer of its own";
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)  `->` type($result)";
}

// ------------------------------------------------------------------ views

def RT_ViewOp : RT_Op<"view", [Pure]> {
  let summary = "A part of a tensor, without a copy";
  let description = [{
    The view starts `offset + index * stride` elements into `source`; `index` is the
    micro-batch, or 0 when absent. In memory, consecutive sequence positions may be
    further apart than the shape of the view says; the op that reads the view has the
    stride as an attribute.
  }];
  let arguments = (ins AnyRankedTensor:$source, Optional<I64>:$index, I64Attr:$offset,
                       DefaultValuedAttr<I64Attr, "0">:$stride);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $source (`[` $index^ `]`)? attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def RT_ConcatOp : RT_Op<"concat", [Pure]> {
  let summary = "Joins tensors without a copy";
  let description = [{
    Part `k` starts `part_offsets[k]` elements into the result. The memory plan places
    the parts inside the result, so the ops that produce them write them there
    directly.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$parts, DenseI64ArrayAttr:$part_offsets);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$parts attr-dict `:` functional-type($parts, $result)";
  let hasVerifier = 1;
}

// ------------------------------------------------------------------ collectives

def RT_AllReduceOp : RT_Op<"all_reduce", [Pure, AllTypesMatch<["input", "result"]>, RT_Call<["getTiedOperand"]>,
                                           RT_Collective]> {
  let summary = "Sum or maximum over the ranks of one or more mesh axes, in place";
  let arguments = (ins AnyRankedTensor:$input, StrArrayAttr:$axes, BoolAttr:$maximum, UnitAttr:$async);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `over` $axes (`async` $async^)? attr-dict `:` type($input) `->` type($result)";
}

def RT_WaitOp : RT_Op<"wait", [AttrSizedOperandSegments, RT_Call<["getTiedOperand", "describe"]>]> {
  let summary = "Waits until an asynchronous call is done";
  let description = [{
    `pending` are the results of the call; the results of this op are the same tensors,
    in the same buffers. `inputs` are the other tensors that the call reads. They are
    operands here so that they stay in memory until the call is done.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$pending, Variadic<AnyRankedTensor>:$inputs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $pending (`reading` `(` $inputs^ `:` type($inputs) `)`)? attr-dict
    `:` type($pending) `->` type($results)
  }];
  let hasVerifier = 1;
}

def RT_AllGatherOp : RT_Op<"all_gather", [Pure, RT_Call<>, RT_Collective]> {
  let summary = "Concatenates the ranks' tensors along a dimension";
  let description = [{
    The ranks of the group are ordered as in the mesh.
  }];
  let arguments = (ins AnyRankedTensor:$input, StrArrayAttr:$axes,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$dim, UnitAttr:$async);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input `along` $dim `over` $axes (`async` $async^)? attr-dict
    `:` type($input) `->` type($result)
  }];
  let hasVerifier = 1;
}

def RT_ReduceScatterOp : RT_Op<"reduce_scatter", [Pure, RT_Call<>, RT_Collective]> {
  let summary = "Sums over the ranks; each rank keeps its chunk of one dimension";
  let arguments = (ins AnyRankedTensor:$input, StrArrayAttr:$axes,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$dim, UnitAttr:$async);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input `along` $dim `over` $axes (`async` $async^)? attr-dict
    `:` type($input) `->` type($result)
  }];
  let hasVerifier = 1;
}

/// A collective of several tensors, each along a dimension of its own.
class RT_Coalesced<string mnemonic> : RT_Op<mnemonic, [Pure, RT_Call<>, RT_Collective]> {
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, StrArrayAttr:$axes,
                       DenseI64ArrayAttr:$dims, UnitAttr:$async);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let assemblyFormat = [{
    $inputs `along` $dims `over` $axes (`async` $async^)? attr-dict
    `:` type($inputs) `->` type($outputs)
  }];
  let hasVerifier = 1;
}

def RT_AllGatherCoalescedOp : RT_Coalesced<"all_gather_coalesced"> {
  let summary = "Gathers several tensors in one call";
  let description = [{
    Result `k` is the `rt.all_gather` of operand `k` along `dims[k]`. Buffers need not be
    adjacent in memory.
  }];
}

def RT_ReduceScatterCoalescedOp : RT_Coalesced<"reduce_scatter_coalesced"> {
  let summary = "Reduces and scatters several tensors in one call";
  let description = [{
    Result `k` is the `rt.reduce_scatter` of operand `k` along `dims[k]`. Buffers need not
    be adjacent in memory.
  }];
}

def RT_AllToAllOp : RT_Op<"all_to_all", [Pure, RT_Call<>, RT_Collective]> {
  let summary = "Gathers one dimension and scatters another";
  let description = [{
    The ranks' chunks of dimension `gathered` are joined, and each rank keeps its chunk
    of dimension `scattered`. With `gates` [batch, sequence, experts], the result is
    [experts, batch, sequence, ..], and the gates are those of its experts and tokens:
    rows whose gate is 0 are not sent, and are 0 in the result.
  }];
  let arguments = (ins AnyRankedTensor:$input, Optional<AnyRankedTensor>:$gates,
                       StrArrayAttr:$axes, ConfinedAttr<I64Attr, [IntNonNegative]>:$gathered,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$scattered, UnitAttr:$async);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input (`by` $gates^ `:` type($gates))? `from` $gathered `to` $scattered `over` $axes
    (`async` $async^)? attr-dict `:` type($input) `->` type($result)
  }];
  let hasVerifier = 1;
}

include "tessera/Dialect/RT/RTKernelOps.td"

// ------------------------------------------------------------------ structure

def RT_LoopOp : RT_Op<"loop", [SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "Runs its body `count` times";
  let description = [{
    The arguments of the block are the iteration number (i64) and one tensor for each
    of `inits`. The block yields the values of these tensors for the next iteration,
    which are stored in the same buffers.
  }];
  let arguments = (ins RT_Positive:$count, Variadic<AnyRankedTensor>:$inits);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $count `init` `(` $inits `)` attr-dict-with-keyword `:` functional-type($inits, $results) $body
  }];
  let hasVerifier = 1;
}

def RT_YieldOp : RT_Op<"yield", [Pure, Terminator, ReturnLike, HasParent<"LoopOp">]> {
  let summary = "Ends the body of `rt.loop` with the values for the next iteration";
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let builders = [OpBuilder<(ins), [{ (void)$_builder; }]>];
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

include "tessera/Dialect/RT/RTStageOps.td"
include "tessera/Dialect/RT/RTRingOps.td"
include "tessera/Dialect/RT/RTExpertOps.td"
include "tessera/Dialect/RT/RTCacheOps.td"
include "tessera/Dialect/RT/RTSamplingOps.td"

#endif // TESSERA_DIALECT_RT_RTOPS_TD
