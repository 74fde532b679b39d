//===- NNBase.td - the dialect, its types and traits -------*- tablegen -*-===//

#ifndef TESSERA_DIALECT_NN_NNBASE_TD
#define TESSERA_DIALECT_NN_NNBASE_TD

include "tessera/Dialect/Dist/DistInterfaces.td"
include "tessera/Dialect/NN/NNInterfaces.td"
include "mlir/IR/DialectBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def NN_Dialect : Dialect {
  let name = "nn";
  let cppNamespace = "::tessera::nn";
  let summary = "Transformer models as pure ops on tensors with global shapes";
  let description = [{
    A model is a function. Attributes of its arguments say what they are:

    * **Parameters** have `nn.param`, their name in checkpoints. If a file stores the
      slices of dimension 0 as separate tensors, a `*` in the name stands for the
      index. `nn.init`, `nn.file_shape` and `nn.decay` describe the parameter further.
    * **Data** have `nn.data`.
    * **Tables** have `nn.table`, their name. They are constants whose values `nn.init`
      defines. They are not parameters, and no file holds them.

    `nn.dims` gives each dimension of an argument a letter, from which a plan chooses
    the sharding: `b` batch, `s` sequence, `h` hidden, `c` query, key or value, `n`
    heads, `g` key and value heads, `r` query heads per key head, `d` head size, `f`
    feed-forward, `v` vocabulary, `p` positions, `x` experts, `y` experts in a router,
    and in caches `t` slots and `l` places.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    static constexpr ::llvm::StringLiteral kParamAttr = "nn.param";
    static constexpr ::llvm::StringLiteral kDataAttr = "nn.data";
    static constexpr ::llvm::StringLiteral kTableAttr = "nn.table";
    static constexpr ::llvm::StringLiteral kDimsAttr = "nn.dims";
    static constexpr ::llvm::StringLiteral kInitAttr = "nn.init";
    static constexpr ::llvm::StringLiteral kFileShapeAttr = "nn.file_shape";
    static constexpr ::llvm::StringLiteral kDecayAttr = "nn.decay";
    /// On an op whose first operand is the gradient of this parameter.
    static constexpr ::llvm::StringLiteral kGradientOfAttr = "nn.gradient_of";
    static constexpr ::llvm::StringLiteral kRoleAttr = "nn.role";
    static constexpr ::llvm::StringLiteral kTagAttr = "nn.tag";
    static constexpr ::llvm::StringLiteral kPhaseAttr = "nn.phase";
    static constexpr ::llvm::StringLiteral kModelAttr = "nn.model";
  }];
}

def NN_Function : I32EnumAttr<"Function", "pointwise function", [
    I32EnumAttrCase<"GeluTanh", 0, "gelu_tanh">,
    I32EnumAttrCase<"Gelu", 1, "gelu">,
    I32EnumAttrCase<"Relu", 2, "relu">,
    I32EnumAttrCase<"Exp", 3, "exp">,
    I32EnumAttrCase<"Log", 4, "log">,
    I32EnumAttrCase<"Sqrt", 5, "sqrt">,
    I32EnumAttrCase<"Reciprocal", 6, "reciprocal">,
    I32EnumAttrCase<"ClipFactor", 7, "clip_factor">,
    I32EnumAttrCase<"Rsqrt", 8, "rsqrt">,
    I32EnumAttrCase<"Silu", 9, "silu">,
    I32EnumAttrCase<"IsFinite", 10, "is_finite">,
    I32EnumAttrCase<"Sign", 11, "sign">]> {
  let cppNamespace = "::tessera::nn";
}

def NN_Rows : RankedTensorOf<[AnyType], [HasRankGreaterOrEqualPred<1>],
                             "ranked tensor with at least 1 dimension">;
def NN_Matrix : RankedTensorOf<[AnyType], [HasAnyRankOfPred<[2]>], "matrix">;
def NN_Heads : RankedTensorOf<[AnyType], [HasAnyRankOfPred<[4, 5]>],
                             "tensor [batch, sequence, heads, head size], or with groups of heads">;
def NN_Angles : RankedTensorOf<[AnyType], [HasAnyRankOfPred<[2, 3]>],
                             "angles of positions, or of rows">;
def NN_Indices : RankedTensorOf<[I32], [], "ranked tensor of indices">;
def NN_FloatType : TypeAttrOf<AnyTypeOf<[BF16, F16, F32, F64]>>;

class NN_Op<string mnemonic, list<Trait> traits = []> :
    Op<NN_Dialect, mnemonic, !listconcat([Pure, Dist_OnTensors,
       DeclareOpInterfaceMethods<DistributableOpInterface>], traits)>;

defvar NN_Differentiable = DeclareOpInterfaceMethods<DifferentiableOpInterface>;
defvar NN_Cost = DeclareOpInterfaceMethods<CostOpInterface, ["getFlops"]>;
defvar NN_TypedElement = DeclareOpInterfaceMethods<DistributableOpInterface,
                                                   ["getResultElementType"]>;
defvar NN_Precision = DeclareOpInterfaceMethods<PrecisionOpInterface>;
defvar NN_ProductPrecision = DeclareOpInterfaceMethods<
    PrecisionOpInterface, ["mayRoundOperands", "setOperandRounding"]>;
defvar NN_Routed = DeclareOpInterfaceMethods<RoutedOpInterface>;

// ------------------------------------------------------------------ products

#endif // TESSERA_DIALECT_NN_NNBASE_TD
