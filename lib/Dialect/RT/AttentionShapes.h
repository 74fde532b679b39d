//===- AttentionShapes.h - shapes that belong together ----------*- C++ -*-===//
// The runtime computes the addresses of all operands of attention from the
// sizes of some, so it would read past the end of one that has another shape.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_DIALECT_RT_ATTENTIONSHAPES_H
#define TESSERA_LIB_DIALECT_RT_ATTENTIONSHAPES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace tessera::rt {

/// A tensor of an op and what diagnostics call it.
struct NamedTensor {
  llvm::StringRef name;
  mlir::Value value;

  llvm::ArrayRef<int64_t> shape() const {
    return llvm::cast<mlir::RankedTensorType>(value.getType()).getShape();
  }
};

/// The operands and results of attention on one rank: a query [batch, queries,
/// heads.., head size], keys and values [batch, keys, heads, head size].
/// A row holds the elements of one position.
struct AttentionShapes {
  mlir::Value query, key, value, lse;
  mlir::Value biasTable = {};
  llvm::SmallVector<NamedTensor> likeQuery = {}, likeKey = {};
};

/// Emits an error unless all ranks, sizes and element types agree. Tensors in
/// `likeQuery` and `likeKey` may have other element types.
mlir::LogicalResult verifyAttention(mlir::Operation *op,
                                    const AttentionShapes &shapes);

/// Emits an error unless a tensor has the shape.
mlir::LogicalResult verifyShape(mlir::Operation *op, const NamedTensor &tensor,
                                llvm::ArrayRef<int64_t> wanted);

/// Emits an error unless the tensors have the element type of the first.
mlir::LogicalResult verifyElementTypes(mlir::Operation *op,
                                       llvm::ArrayRef<NamedTensor> tensors);

/// Emits an error unless consecutive positions of [batch, positions, ..] may
/// lie `stride` elements apart.
mlir::LogicalResult verifyStride(mlir::Operation *op, const NamedTensor &tensor,
                                 int64_t stride);

} // namespace tessera::rt

#endif // TESSERA_LIB_DIALECT_RT_ATTENTIONSHAPES_H
