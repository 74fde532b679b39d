//===- SavedTensors.h - what forward leaves for backward --------*- C++ -*-===//
// A training step as software runs it that runs op by op: what backward reads
// of forward, and what a rank holds of the parameters. Counts elements and does
// not say how such software stores them; Tessera's memory plan reads none of
// it.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TRAIN_SAVEDTENSORS_H
#define TESSERA_TRAIN_SAVEDTENSORS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <set>
#include <string>
#include <vector>

namespace tessera {

/// A tensor that one rank saves for one micro-batch.
struct SavedTensor {
  enum Kind {
    Activation, ///< A value that forward computes and backward reads.
    Mask,       ///< The mask of elements that a dropout keeps.
    LogSumExp,  ///< The log-sum-exp of attention's scores.
    // The next three are for software that stores scores, each with all queries
    // and keys.
    Softmax,
    SoftmaxMask,    ///< The mask of scores that the dropout of attention keeps.
    DroppedSoftmax, ///< Its result, which multiplies the values.
  };
  Kind kind = Activation;
  std::string op;   ///< "nn.layer_norm", which makes it.
  std::string part; ///< "h.3.mlp", whose backward reads it.
  bool isOfLoss = false;
  int64_t chunk = 0; ///< The pipeline's chunk whose backward reads it.
  int64_t elements = 0;
  int64_t bytesOfElement = 0; ///< In Tessera's program; 0: it stores none.
};

/// Returns "activation", "dropout mask" or the like.
const char *nameOf(SavedTensor::Kind kind);

/// Returns the tensors that the typed `@step` saves, before it is cut into
/// stages. If backward computes a layer again as a whole, only what it starts
/// from is saved.
std::vector<SavedTensor> savedTensors(mlir::func::FuncOp step);

struct HeldParameter {
  std::string name;
  /// Stages that use it; empty: all ranks hold it.
  std::set<int64_t> stages;
  /// Elements on a rank: at rest, and where `dp` does not split it.
  int64_t atRest = 0, whole = 0;
  bool isTrained = true;
};

/// Returns the parameters of such a step.
std::vector<HeldParameter> heldParameters(mlir::func::FuncOp step);

} // namespace tessera

#endif // TESSERA_TRAIN_SAVEDTENSORS_H
