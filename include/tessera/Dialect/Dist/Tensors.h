//===- Tensors.h - which tensors programs hold ------------------*- C++ -*-===//
// Passes divide by sizes, multiply them and ask elements for their width. So
// every op of the dialects refuses other tensors, before its own verifier.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_DIST_TENSORS_H
#define TESSERA_DIALECT_DIST_TENSORS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

namespace tessera::dist {

/// The most bytes of a tensor, padding of its shards and rows included.
inline constexpr int64_t kMostBytes = int64_t(1) << 56;

/// Returns what a tensor type must be and is not; "" for other types and for
/// tensors of static positive sizes, of numbers, of at most kMostBytes.
std::string refusalOfTensor(mlir::Type type);

/// Emits an error if an operand or result has such a type.
llvm::LogicalResult verifyTensors(mlir::Operation *op);

/// The trait of ops that call verifyTensors.
template <typename ConcreteType>
struct OnTensors : mlir::OpTrait::TraitBase<ConcreteType, OnTensors> {
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) {
    return verifyTensors(op);
  }
};

} // namespace tessera::dist

#endif // TESSERA_DIALECT_DIST_TENSORS_H
