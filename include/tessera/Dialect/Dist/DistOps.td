//===- DistOps.td - conversions between distributions ------*- tablegen -*-===//

#ifndef TESSERA_DIALECT_DIST_DISTOPS_TD
#define TESSERA_DIALECT_DIST_DISTOPS_TD

include "tessera/Dialect/Dist/DistDialect.td"
include "tessera/Dialect/Dist/DistInterfaces.td"
include "tessera/Dialect/NN/NNInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpBase.td"

def Dist_ConvertOp : Op<Dist_Dialect, "convert",
    [Pure, Dist_OnTensors, DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "Changes the state of a tensor on one mesh axis";
  let description = [{
    This is the only op that changes a distribution. The states on `axis` before and
    after it determine what it does. `kind` is the name of that, and the verifier checks
    that it fits the states. The global value does not change.

    | states | kind | backward |
    |---|---|---|
    | `I -> R` | `enter` | `P -> I` |
    | `P -> I` | `all_reduce` | `I -> R` |
    | `S -> R`, `S -> I` | `all_gather` | `P -> S`, `I -> S` |
    | `P -> S` | `reduce_scatter` | `S -> R` |
    | `I -> S`, `R -> S` | `all_slice` | `S -> I`, `S -> P` |
    | `S -> P` | `sharded_to_partial` (zeros outside the slice) | `R -> S` |
    | `I -> P`, `R -> P` | `replicated_to_partial` (rank 0 keeps the value, the others hold 0) | `R -> I`, `R -> P` |
    | `R -> I` | `leave` | `I -> P` |
    | `S(a) -> S(b)` | `all_to_all` | `S(b) -> S(a)` |
    | `M -> I` | `all_reduce_max` | none |
    | `L -> I` | `all_reduce_mean` (each mean weighs as its part does) | none |
    | `L -> S` | `reduce_scatter_mean` | none |
    | `C -> I` | `all_reduce_top` (the best candidates of all) | none |
    | `R -> A(s)`, `I -> A(s)` | `replicated_to_stage` (only stage s keeps the value) | `A(s) -> P`, `A(s) -> I` |
    | `A(s) -> P` | `stage_to_partial` (zeros at the other stages) | `R -> A(s)` |
    | `A(s) -> A(t)` | `send` | `A(t) -> A(s)` |
    | `A(s) -> I` | `broadcast` | `I -> A(s)` |

    Example:

    ```mlir
    %y = dist.convert all_reduce %x on "tp"
       : tensor<8x16xf32, #dist<dp: S(0), tp: P>> -> tensor<8x16xf32, #dist<dp: S(0)>>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, Dist_ConversionKindAttr:$kind,
                       StrAttr:$axis);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = [{
    $kind $input `on` $axis attr-dict `:` type($input) `->` type($output)
  }];
  let hasVerifier = 1;
  let builders = [
    /// The kind follows from the states. The verifier refuses states between
    /// which there is no conversion.
    OpBuilder<(ins "::mlir::Value":$input, "::llvm::StringRef":$axis,
                   "::tessera::dist::State":$to)>];
  let extraClassDeclaration = [{
    ::tessera::dist::State getFrom();
    ::tessera::dist::State getTo();
    /// The type that the result has by the operand's and the state after.
    ::mlir::RankedTensorType convertedType();
  }];
}

def Dist_MaskOp : Op<Dist_Dialect, "mask",
    [Pure, Dist_OnTensors, SameOperandsAndResultElementType,
     DeclareOpInterfaceMethods<DistributableOpInterface>]> {
  let summary = "Fills the padding of one dimension";
  let description = [{
    If the size of dimension `dim` is not a multiple of the number of ranks that share
    it, some shards end in padding. The op sets that padding to zeros (`Z`) or to -inf
    (`N`). The global value does not change, and erasure drops the op. With `N`, no axis
    may be in state `P`, because partial sums of -inf would not be valid. To test a
    program, `F` and `X` write numbers or NaN where its types allow them.

    Example:

    ```mlir
    %y = dist.mask %x dim 1 fill Z
       : tensor<8x15xf32, #dist<tp: S(1)>> -> tensor<8x15xf32, #dist<tp: S(1) Z>>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$dim,
                       Dist_PaddingAttr:$fill);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = [{
    $input `dim` $dim `fill` $fill attr-dict `:` type($input) `->` type($output)
  }];
  let hasVerifier = 1;
  let builders = [
    OpBuilder<(ins "::mlir::Value":$input, "int64_t":$dim,
                   "::tessera::dist::Padding":$fill), [{
      build($_builder, $_state, input.getType(), input, dim, fill);
    }]>];
}

#endif // TESSERA_DIALECT_DIST_DISTOPS_TD
