//===- NNDialect.td - the nn dialect -----------------------*- tablegen -*-===//

#ifndef TESSERA_DIALECT_NN_NNDIALECT_TD
#define TESSERA_DIALECT_NN_NNDIALECT_TD

include "mlir/IR/DialectBase.td"

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

#endif // TESSERA_DIALECT_NN_NNDIALECT_TD
