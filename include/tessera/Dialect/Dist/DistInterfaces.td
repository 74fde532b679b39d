//===- DistInterfaces.td - what an op says for typing ------*- tablegen -*-===//

#ifndef TESSERA_DIALECT_DIST_DISTINTERFACES_TD
#define TESSERA_DIALECT_DIST_DISTINTERFACES_TD

include "mlir/IR/OpBase.td"

def DistributableOpInterface : OpInterface<"DistributableOpInterface"> {
  let cppNamespace = "::tessera::dist";
  let description = [{
    An op on distributed tensors. It states its signature: the factors of its
    operands and results, in which operands it is linear, which factors stay
    whole. Shapes and distributions of its results follow by the one rule and
    are verified against it, after the op's own verifier: that one refuses
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
      }]>
  ];
  let verifyWithRegions = 1; // behind the op's own verifier
  let verify = [{ return ::tessera::dist::verifyDistributable($_op); }];
}

#endif // TESSERA_DIALECT_DIST_DISTINTERFACES_TD
