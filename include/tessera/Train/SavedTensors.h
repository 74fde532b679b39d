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

/// Of one micro-batch, on one rank.
struct SavedTensor {
  enum Kind {
    Activation, ///< What forward computes and backward reads.
    Mask,       ///< Which elements a dropout keeps.
    LogSumExp,  ///< Of attention's scores.
    // Of software that stores scores, each with all queries and keys.
    Softmax,
    SoftmaxMask,    ///< Which ones the dropout of attention keeps.
    DroppedSoftmax, ///< What it makes of them, which multiplies the values.
  };
  Kind kind = Activation;
  std::string op;   ///< "nn.layer_norm", which makes it.
  std::string part; ///< "h.3.mlp", whose backward reads it.
  bool isOfLoss = false;
  int64_t chunk = 0; ///< Of the pipeline, whose backward reads it.
  int64_t elements = 0;
  int64_t bytesOfElement = 0; ///< In Tessera's program; 0: it stores none.
};

/// "activation", "dropout mask".
const char *nameOf(SavedTensor::Kind kind);

/// Of the typed `@step`, before it is cut into stages. Of a layer that backward
/// computes again as a whole, only what it starts from is saved.
std::vector<SavedTensor> savedTensors(mlir::func::FuncOp step);

struct HeldParameter {
  std::string name;
  /// Stages that use it; empty: all ranks hold it.
  std::set<int64_t> stages;
  /// Elements on a rank: at rest, and where `dp` does not split it.
  int64_t atRest = 0, whole = 0;
  bool isTrained = true;
};

/// The parameters of such a step.
std::vector<HeldParameter> heldParameters(mlir::func::FuncOp step);

} // namespace tessera

#endif // TESSERA_TRAIN_SAVEDTENSORS_H
