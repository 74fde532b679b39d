//===- AttentionOperands.h - where attention's operands lie -----*- C++ -*-===//
// In memory: strides of views of a fused projection. In the global tensors: the
// first sequence, head and position, on which masks and dropout depend.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_LOWER_ATTENTIONOPERANDS_H
#define TESSERA_LIB_LOWER_ATTENTIONOPERANDS_H

#include "mlir/IR/Builders.h"
#include "mlir/Support/LLVM.h"

namespace tessera {

/// Returns the global index of the op's first sequence.
mlir::Value batchStart(mlir::OpBuilder &builder, mlir::Operation *op,
                       int64_t localBatch);
/// Returns the elements of a position of [b, s, heads.., d].
int64_t rowElements(mlir::Value value);
/// Returns the elements between consecutive positions of an operand.
int64_t rowStride(mlir::Value value);

/// The global number of heads, and the first of this rank.
struct HeadRange {
  int64_t total;
  mlir::Value start;
};

HeadRange headRange(mlir::OpBuilder &builder, mlir::Operation *op,
                    mlir::Value query);

/// Returns why attention that `drops` weights cannot count its heads from the
/// first one on; empty if it can, because they are neighbours.
llvm::StringRef whyNotNeighbours(mlir::Operation *op, mlir::Value query,
                                 bool drops);

} // namespace tessera

#endif // TESSERA_LIB_LOWER_ATTENTIONOPERANDS_H
