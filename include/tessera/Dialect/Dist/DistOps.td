//===- DistOps.td - conversions between distributions ------*- tablegen -*-===//

#ifndef TESSERA_DIALECT_DIST_DISTOPS_TD
#define TESSERA_DIALECT_DIST_DISTOPS_TD

include "tessera/Dialect/Dist/DistDialect.td"
include "tessera/Dialect/NN/NNInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpBase.td"

def Dist_ConvertOp : Op<Dist_Dialect, "convert",
    [Pure, DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "Changes the state of a tensor on one mesh axis";
  let description = [{
    The only op that changes a distribution. The states on `axis` before and
    after decide what it does; `how` names it and is checked. The value that all
    ranks together denote is unchanged.

    | states | how | backward |
    |---|---|---|
    | `I -> R` | `enter` | `P -> I` |
    | `P -> I` | `all_reduce` | `I -> R` |
    | `S -> R`, `S -> I` | `all_gather` | `P -> S`, `I -> S` |
    | `P -> S` | `reduce_scatter` | `S -> R` |
    | `I -> S`, `R -> S` | `slice` | `S -> I`, `S -> P` |
    | `S -> P` | `pad` (zeros outside the slice) | `R -> S` |
    | `I -> P`, `R -> P` | `first` (rank 0 keeps it, others hold 0) | `R -> I`, `R -> P` |
    | `R -> I` | `leave` | `I -> P` |
    | `S(a) -> S(b)` | `all_to_all` | `S(b) -> S(a)` |
    | `M -> I` | `all_reduce_max` | none |
    | `R -> A(s)`, `I -> A(s)` | `keep` (at stage s only) | `A(s) -> P`, `A(s) -> I` |
    | `A(s) -> P` | `place` (zeros at the other stages) | `R -> A(s)` |
    | `A(s) -> A(t)` | `send` | `A(t) -> A(s)` |
    | `A(s) -> I` | `broadcast` | `I -> A(s)` |

    Example:

    ```mlir
    %y = dist.convert all_reduce %x on "tp"
       : tensor<8x16xf32, #dist<dp: S(0), tp: P>> -> tensor<8x16xf32, #dist<dp: S(0)>>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, StrAttr:$how, StrAttr:$axis);
  let results = (outs AnyRankedTensor:$output);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "::llvm::StringRef":$axis,
                                 "::tessera::dist::State":$to)>];
  let extraClassDeclaration = [{
    ::tessera::dist::State getFrom();
    ::tessera::dist::State getTo();
  }];
}

#endif // TESSERA_DIALECT_DIST_DISTOPS_TD
