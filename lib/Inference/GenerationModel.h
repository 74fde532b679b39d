//===- GenerationModel.h - the ops that make logits -------------*- C++ -*-===//

#ifndef TESSERA_LIB_INFERENCE_GENERATIONMODEL_H
#define TESSERA_LIB_INFERENCE_GENERATIONMODEL_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tessera/Dialect/NN/NN.h"
#include "llvm/ADT/SetVector.h"

namespace tessera {

/// The ops of a serial model that make logits, in their order.
struct GenerationModel {
  mlir::func::FuncOp loss;
  mlir::Value logits, ids;
  llvm::SmallVector<mlir::Operation *> ops;
  /// The last op of the residual stream: those behind it read its row alone.
  mlir::Operation *lastOfStream = nullptr;
  /// The ops of an encoder-decoder model that depend on a source alone: the
  /// encoder, and keys and values of cross-attention. `ops` are the others.
  llvm::SmallVector<mlir::Operation *> sourceOps;
  mlir::Value sourceIds, sourceSegments; ///< Null: there is no encoder.

  /// Finds all of them in `loss`. An error if it is no causal decoder's.
  llvm::LogicalResult find();
  /// Returns whether keys and values are made of a source.
  bool isCross(nn::AttentionOp op) const {
    return llvm::is_contained(sourceOps, op.getKey().getDefiningOp());
  }

private:
  llvm::LogicalResult checkFamily();
  void splitOps(const llvm::SetVector<mlir::Operation *> &needed);
  mlir::Value dataOf(llvm::StringRef name);
};

} // namespace tessera

#endif // TESSERA_LIB_INFERENCE_GENERATIONMODEL_H
