//===- DistInterfaces.td - what an op says for typing ------*- tablegen -*-===//

#ifndef TESSERA_DIALECT_DIST_DISTINTERFACES_TD
#define TESSERA_DIALECT_DIST_DISTINTERFACES_TD

include "mlir/IR/OpBase.td"

/// An op on tensors of static shape, of numbers (Tensors.h).
def Dist_OnTensors : NativeOpTrait<"OnTensors"> {
  let cppNamespace = "::tessera::dist";
}

def DistributableOpInterface : OpInterface<"DistributableOpInterface"> {
  let cppNamespace = "::tessera::dist";
  let description = [{
    An op on distributed tensors. It states its signature: the factors of its operands
    and results (dimensions with the same letter are one factor), the operands in which
    it is linear, and the factors that must not be split. From the signature, the
    typing rule derives the shapes and distributions of the results, and the verifier
    compares them with the types. It runs after the op's own verifier, which refuses
    attributes from which no signature follows.
  }];
  let methods = [
    InterfaceMethod<"Signature of one result: factors, linear groups.",
      "::tessera::dist::Signature", "getSignature", (ins "unsigned":$result)>,
    InterfaceMethod<"Element type of one result.",
      "::mlir::Type", "getResultElementType", (ins "unsigned":$result), "", [{
        for (::mlir::Value operand : $_op->getOperands()) {
          ::mlir::Type type = ::mlir::getElementTypeOrSelf(operand.getType());
          if (::llvm::isa<::mlir::FloatType>(type))
            return type;
        }
        return ::mlir::Float32Type::get($_op->getContext());
      }]>,
    InterfaceMethod<[{
      Size of a factor that a result has and no operand has, or -1.
      }], "int64_t", "getNewFactorSize", (ins "char":$factor), "", [{
        return -1;
      }]>,
    InterfaceMethod<[{
      What a result holds at an index that is padding of one factor, or, where
      the result lacks the factor, what is added or compared there. `operands` is
      what each operand holds at that index; one without the factor, or of which
      only the shape is read, counts as F.
      }], "::tessera::dist::Padding", "getPadding",
      (ins "unsigned":$result, "char":$factor,
           "::tessera::dist::Paddings":$operands)>
  ];
  let verifyWithRegions = 1; // Runs after the op's own verifier.
  let verify = [{ return ::tessera::dist::verifyDistributable($_op); }];
}

#endif // TESSERA_DIALECT_DIST_DISTINTERFACES_TD
