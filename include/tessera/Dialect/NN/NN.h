//===- NN.h - the nn dialect ------------------------------------*- C++ -*-===//

#ifndef TESSERA_DIALECT_NN_NN_H
#define TESSERA_DIALECT_NN_NN_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tessera/Dialect/Dist/Dist.h"
#include "tessera/Dialect/NN/NNAttributes.h"
#include "tessera/Dialect/NN/NNInterfaces.h"

#define GET_OP_CLASSES
#include "tessera/Dialect/NN/NNOps.h.inc"

namespace tessera::nn {

/// Emits an error unless an attribute is in [0, 1).
mlir::LogicalResult verifyProbability(mlir::Operation *op, llvm::StringRef name,
                                      const llvm::APFloat &value);

/// An operand and what diagnostics call it.
struct NamedOperand {
  llvm::StringRef name;
  mlir::Value value;
};

/// Emits an error unless all operands have the element type of the first.
mlir::LogicalResult verifyOneElementType(mlir::Operation *op,
                                         const NamedOperand &first,
                                         llvm::ArrayRef<NamedOperand> others);

/// Emits an error unless an op of attention has both a table of biases by
/// distance and a `max_distance` for its number of buckets, or neither.
mlir::LogicalResult verifyBiasTable(mlir::Operation *op,
                                    AttentionAttr attention, mlir::Value query,
                                    mlir::Value table);

/// Does the same for attention over a cache, whose biases must be of keys
/// before the row: it reads no others.
mlir::LogicalResult verifyCausalBiasTable(mlir::Operation *op,
                                          AttentionAttr attention,
                                          mlir::Value query, mlir::Value table);

/// Each token has gates that are not 0 for `k` experts of `total`; 1 of 1 if
/// the op that makes the gates is not in sight.
struct RoutedShare {
  int64_t k = 1, total = 1;
};
RoutedShare routedShare(mlir::Value gates);

/// Creates an op whose results have no types yet; the caller makes it typed
/// with dist::setResultTypes or by placing it. A static type inference is not
/// enough: types depend on the op's signature, on `dist.ring` and on the
/// module.
template <typename OpTy, typename... Args>
OpTy createUntyped(mlir::OpBuilder &builder, mlir::Location loc,
                   unsigned results, Args &&...args) {
  mlir::Type none = mlir::RankedTensorType::get({}, builder.getF32Type());
  if constexpr (OpTy::template hasTrait<mlir::OpTrait::OneResult>())
    return OpTy::create(builder, loc, none, std::forward<Args>(args)...);
  else
    return OpTy::create(builder, loc,
                        llvm::SmallVector<mlir::Type>(results, none),
                        std::forward<Args>(args)...);
}

/// Creates an op whose result types follow from its operands by the typing
/// rule. The rule must accept them; the op's own verifier says so otherwise.
template <typename OpTy, typename... Args>
OpTy createWithResults(mlir::OpBuilder &builder, mlir::Location loc,
                       unsigned results, Args &&...args) {
  auto op =
      createUntyped<OpTy>(builder, loc, results, std::forward<Args>(args)...);
  (void)dist::setResultTypes(op);
  return op;
}

/// Creates such an op of one result.
template <typename OpTy, typename... Args>
OpTy create(mlir::OpBuilder &builder, mlir::Location loc, Args &&...args) {
  return createWithResults<OpTy>(builder, loc, 1, std::forward<Args>(args)...);
}

/// a + b, an `nn.add` of two values of one type.
mlir::Value sumOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a,
                  mlir::Value b);

/// Returns a letter for each dimension of a tensor, as an `nn.einsum` names
/// them: "abc".
std::string lettersOf(mlir::Value value);

/// Returns the part of the model that a location names, from the outside in:
/// "h.3.mlp"; "" if none.
llvm::StringRef partOf(mlir::Location location);

} // namespace tessera::nn

#endif // TESSERA_DIALECT_NN_NN_H
