//===- UpdateRules.h - what a step makes of one parameter -------*- C++ -*-===//

#ifndef TESSERA_LIB_TRAIN_UPDATERULES_H
#define TESSERA_LIB_TRAIN_UPDATERULES_H

#include "lib/Train/Orthogonalize.h"
#include "tessera/Options/PlanOptions.h"

namespace tessera {

struct Hyperparameters {
  OptimizerKind kind = OptimizerKind::AdamW;
  double beta1, beta2, epsilon, weightDecay, momentum, clip;
  bool nesterov;
};

/// A parameter as its update sees it.
struct UpdateInputs {
  mlir::Value parameter, gradient; ///< The gradient is clipped.
  llvm::SmallVector<mlir::Value, 2> moments;
  mlir::Value lr, correction1, correction2; ///< Corrections: of AdamW.
  double decay = 0;
  std::optional<MatrixForm> matrix;
  mlir::Value norm; ///< The norm of all clipped gradients, for Muon.
};

struct Updated {
  mlir::Value parameter;
  llvm::SmallVector<mlir::Value, 2> moments;
};

/// Returns the rule that an optimizer updates a parameter by: parameters that
/// Muon leaves out are AdamW's.
OptimizerKind ruleOf(OptimizerKind optimizer,
                     const std::optional<MatrixForm> &matrix);

/// Returns the moments that a rule keeps of each parameter.
unsigned momentsOf(OptimizerKind rule, const Hyperparameters &hyper);

/// Returns all elementwise and fused into one kernel, but for Muon's products.
Updated updatedBy(OptimizerKind rule, const Hyperparameters &hyper,
                  OptimizerOps &ops, const UpdateInputs &inputs);

} // namespace tessera

#endif // TESSERA_LIB_TRAIN_UPDATERULES_H
