//===- NNBase.td - the dialect, its types and traits -------*- tablegen -*-===//

#ifndef TESSERA_DIALECT_NN_NNBASE_TD
#define TESSERA_DIALECT_NN_NNBASE_TD

include "tessera/Dialect/Dist/DistInterfaces.td"
include "tessera/Dialect/NN/NNDialect.td"
include "tessera/Dialect/NN/NNInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

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
    I32EnumAttrCase<"Sign", 11, "sign">,
    I32EnumAttrCase<"Tanh", 12, "tanh">,
    I32EnumAttrCase<"Sigmoid", 13, "sigmoid">]> {
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
