//===- KeptValues.h - what stays in memory from forward to backward -------===//
// A minimum cut finds the fewest bytes to keep for backward: ops that may be
// repeated compute the other values that it reads again.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TRAIN_KEPTVALUES_H
#define TESSERA_TRAIN_KEPTVALUES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace tessera {

/// The ops that backward may repeat.
struct Repetition {
  enum Kind {
    Nothing,
    /// Also gathers of activations split over `tp`, as sequence parallelism has
    /// them.
    Gathers,
    Cheap, ///< Also other ops that are cheap for the bytes that they make.
    Any,   ///< At any cost.
  };
  /// For ops outside of `layers`.
  Kind kind = Cheap;
  llvm::DenseMap<llvm::StringRef, Kind> layers; ///< Keyed by name.
};

/// Returns the values of the forward program that are computed again in
/// backward. `func` is @gradients: forward ops, then backward ops, in one
/// block. Values that depend on parameters alone are kept; so is what one layer
/// hands to another.
llvm::DenseSet<mlir::Value> valuesToRecompute(mlir::func::FuncOp func,
                                              Repetition repetition);

/// Returns whether an op reads the elements of an operand, not only its shape.
bool readsElements(mlir::OpOperand &operand);

} // namespace tessera

#endif // TESSERA_TRAIN_KEPTVALUES_H
