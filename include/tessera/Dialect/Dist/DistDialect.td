//===- DistDialect.td - dist dialect and its attributes ----*- tablegen -*-===//
// Distribution as a type: the mesh, the state of a value on each mesh axis.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_DIST_DISTDIALECT_TD
#define TESSERA_DIALECT_DIST_DISTDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/IR/DialectBase.td"
include "mlir/IR/EnumAttr.td"

def Dist_Dialect : Dialect {
  let name = "dist";
  let cppNamespace = "::tessera::dist";
  let summary = "Distribution of tensors over a device mesh, as a type";
  let description = [{
    The encoding of a tensor, such as `#dist<dp: S(0), tp: P>`, gives the tensor a state
    on each mesh axis. The state says what each rank of the axis holds:

    * `I` (invariant): the same value, which all ranks use in the same way.
    * `R` (replicated): the same value, which ranks use in different ways.
    * `S(d)` (sharded): its slice of dimension `d`.
    * `P` (partial): a partial sum; the value is the sum over the ranks.
    * `M` (partial maximum): the maximum over its part; the value is the maximum over
      the ranks.
    * `L` (partial mean): the mean over its part, and the logarithm of its weight; the
      value is the weighted mean over the ranks.
    * `C` (candidates): the best (value, index) pairs of its part; the value is the
      best of all.
    * `A(s)` (at a stage): the value at pipeline stage `s`, nothing elsewhere.

    An axis that is not named has state `I`; a tensor without an encoding is `I` on all
    axes. Shapes are global. Only `dist.convert` changes a state; every other op is
    typed by one rule (docs/TheOneRule.md). The mesh is the module attribute
    `dist.mesh`.
  }];
  let useDefaultAttributePrinterParser = 0;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    static constexpr ::llvm::StringLiteral kMeshAttr = "dist.mesh";
    /// Ranks of a mesh, and so stages, dimensions and levels of a state.
    static constexpr int64_t kMostRanks = MeshShape::kMostRanks;
    /// On an op: the chunk of the model that it belongs to. Chunk c of a
    /// pipeline of p stages lives at stage c mod p.
    static constexpr ::llvm::StringLiteral kChunkAttr = "dist.chunk";
    /// On an op: the mesh axis along which it passes operands on, in a ring.
    static constexpr ::llvm::StringLiteral kRingAttr = "dist.ring";
    /// On a module: the largest number of chunks of a sum, a power of 2. A sum
    /// over a factor that a mesh may split is a balanced tree of chunks, the same
    /// on every mesh.
    static constexpr ::llvm::StringLiteral kInvariantAttr = "dist.layout_invariant";
    /// On an op of such a module: the factor whose sum is made in chunks, and the
    /// number of chunks, `{b = 8}`; in rt, the number that a rank has. If it is
    /// empty, the sum is one chain.
    static constexpr ::llvm::StringLiteral kChunkedSumsAttr = "dist.chunked_sums";
    /// On a module: types state what padding holds, and no sum or maximum reads
    /// padding that changes it. dist-mask-padding sets it.
    static constexpr ::llvm::StringLiteral kMaskedAttr = "dist.masked";
    void registerAttributes();
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser,
                                     ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attr,
                        ::mlir::DialectAsmPrinter &printer) const override;
  }];
}

/// The kinds of conversions. State.cpp holds the table from states to kinds.
def Dist_ConversionKind : I32EnumAttr<"ConversionKind", "kind of a conversion", [
    I32EnumAttrCase<"Enter", 0, "enter">,
    I32EnumAttrCase<"Leave", 1, "leave">,
    I32EnumAttrCase<"AllReduce", 2, "all_reduce">,
    I32EnumAttrCase<"AllGather", 3, "all_gather">,
    I32EnumAttrCase<"ReduceScatter", 4, "reduce_scatter">,
    I32EnumAttrCase<"AllSlice", 5, "all_slice">,
    I32EnumAttrCase<"ReplicatedToPartial", 6, "replicated_to_partial">,
    I32EnumAttrCase<"ShardedToPartial", 7, "sharded_to_partial">,
    I32EnumAttrCase<"AllToAll", 8, "all_to_all">,
    I32EnumAttrCase<"AllReduceMax", 9, "all_reduce_max">,
    I32EnumAttrCase<"ReplicatedToStage", 10, "replicated_to_stage">,
    I32EnumAttrCase<"StageToPartial", 11, "stage_to_partial">,
    I32EnumAttrCase<"Send", 12, "send">,
    I32EnumAttrCase<"Broadcast", 13, "broadcast">,
    I32EnumAttrCase<"AllReduceMean", 14, "all_reduce_mean">,
    I32EnumAttrCase<"ReduceScatterMean", 15, "reduce_scatter_mean">,
    I32EnumAttrCase<"AllReduceTop", 16, "all_reduce_top">]> {
  let cppNamespace = "::tessera::dist";
  let genSpecializedAttr = 0;
}

def Dist_ConversionKindAttr
    : EnumAttr<Dist_Dialect, Dist_ConversionKind, "conversion_kind"> {
  let assemblyFormat = "`` $value"; // No second space after the op's name.
}

/// The content of a dimension's padding: zeros, -inf, finite numbers, anything
/// (NaN too).
def Dist_Padding : I32EnumAttr<"Padding", "what padding holds", [
    I32EnumAttrCase<"Zero", 0, "Z">,
    I32EnumAttrCase<"NegInfinity", 1, "N">,
    I32EnumAttrCase<"Finite", 2, "F">,
    I32EnumAttrCase<"Any", 3, "X">]> {
  let cppNamespace = "::tessera::dist";
  let genSpecializedAttr = 0;
}

def Dist_PaddingAttr : EnumAttr<Dist_Dialect, Dist_Padding, "padding"> {
  let assemblyFormat = "`` $value"; // No second space after the op's word.
}

def Dist_MeshAttr : AttrDef<Dist_Dialect, "Mesh"> {
  let mnemonic = "mesh";
  let summary = "Named axes of a device mesh; the last varies fastest over ranks";
  let description = [{
    Example: `#dist.mesh<dp = 2, tp = 4>` has eight ranks; the ranks of a `tp` group are
    consecutive. Sizes are at least 1, and names are unique.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$axes,
                        ArrayRefParameter<"int64_t">:$sizes);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Ranks of the whole mesh.
    int64_t getRanks() const;
    /// Returns the size of an axis; 1 for an axis that the mesh does not have.
    int64_t getSize(::llvm::StringRef axis) const;
    /// Returns the position of an axis, or -1.
    int64_t getIndex(::llvm::StringRef axis) const;
  }];
}

def Dist_ShardingAttr : AttrDef<Dist_Dialect, "Sharding",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let mnemonic = "sharding";
  let summary = "The state of a tensor on each mesh axis";
  let description = [{
    It is printed as `#dist<dp: S(0), tp: P>`. Axes are in alphabetical order, and those
    in state `I` are left out, so equal distributions are equal attributes. If several
    axes shard one dimension, they are ordered: `S(0)` is the outermost level and
    `S(0:1)` the next.

    If the size of a dimension is not a multiple of the number of ranks that share it,
    some shards end in padding. A letter after the innermost axis says what the padding
    holds: `Z` zeros, `N` -inf, `F` finite numbers. Without a letter it may hold anything
    (diagnostics print `X`). For example, the padding of `#dist<tp: S(2) Z>` is zeros.
  }];
  let parameters = (ins ArrayRefParameter<"::tessera::dist::AxisState">:$states,
                        ArrayRefParameter<"::tessera::dist::DimPadding">:$paddings);
  let builders = [AttrBuilder<(ins "::llvm::ArrayRef<::tessera::dist::AxisState>":$states), [{
    return $_get($_ctxt, states, ::llvm::ArrayRef<::tessera::dist::DimPadding>());
  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif // TESSERA_DIALECT_DIST_DISTDIALECT_TD
