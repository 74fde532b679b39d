//===- NNInterfaces.td - backward, cost and precision of an op ------------===//

#ifndef TESSERA_DIALECT_NN_NNINTERFACES_TD
#define TESSERA_DIALECT_NN_NNINTERFACES_TD

include "mlir/IR/OpBase.td"

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::tessera::nn";
  let description = [{
    An op that builds its own backward as ops. The distribution of a gradient
    is the dual of its value's and follows from the typing rule.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the gradients of the operands whose entry in `wanted` is true and
      stores them in `operandGrads` (left null: no gradient flows there).
      `resultGrads` holds the gradient of each result, null where none flows.
      }], "void", "buildBackward",
      (ins "::mlir::OpBuilder &":$builder,
           "::llvm::ArrayRef<::mlir::Value>":$resultGrads,
           "::llvm::ArrayRef<bool>":$wanted,
           "::llvm::MutableArrayRef<::mlir::Value>":$operandGrads)>,
    InterfaceMethod<"Whether backward needs the gradient of every result.",
      "bool", "needsEveryGradient", (ins), "", [{ return false; }]>
  ];
}

def CostOpInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::tessera::nn";
  let description = [{ An op whose floating-point operations follow from its types alone. }];
  let methods = [
    InterfaceMethod<[{
      Floating-point operations of the op, counting a multiply-add as two, for
      the shapes its tensors have (global before localization, local after).
      }], "int64_t", "getFlops", (ins), "", [{ return 0; }]>
  ];
}

def PrecisionOpInterface : OpInterface<"PrecisionOpInterface"> {
  let cppNamespace = "::tessera::nn";
  let description = [{
    An op that computes in full precision unless mixed precision makes it round its
    result, its operands, or both.
  }];
  let methods = [
    InterfaceMethod<"Rounds the result to `type`.",
      "void", "setResultElementType", (ins "::mlir::Type":$type)>,
    InterfaceMethod<[{
      Whether operands may be rounded first, given whether the result is. True
      in both cases: a matrix product. Not by default: what is normalized or
      routed keeps its precision.
      }], "bool", "mayRoundOperands", (ins "bool":$resultIsRounded), "",
      [{ return false; }]>,
    InterfaceMethod<[{
      Rounds the operands to `type` first. Called only where they may be.
      }], "void", "setOperandRounding", (ins "::mlir::Type":$type), "",
      [{ llvm_unreachable("operands keep their precision"); }]>
  ];
}

def RoutedOpInterface : OpInterface<"RoutedOpInterface"> {
  let cppNamespace = "::tessera::nn";
  let description = [{
    An op on routed tokens. Gates [batch, sequence, experts] route a token to an expert
    where they are not 0. Elsewhere, tensors [experts, batch, sequence, ..] are 0, and
    those rows are neither computed nor sent.
  }];
  let methods = [
    InterfaceMethod<"The operand that says which tokens are routed where.",
      "::mlir::Value", "getGates", (ins)>,
    InterfaceMethod<[{
      Whether an operand is [experts, batch, sequence, ..], of which the op reads
      the routed rows only.
      }], "bool", "readsRoutedRows", (ins "unsigned":$operand)>
  ];
}

#endif // TESSERA_DIALECT_NN_NNINTERFACES_TD
