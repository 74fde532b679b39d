//===- SoftwareMemory.h - what other software keeps -------------*- C++ -*-===//
// Applies the facts of [software.memory] of a file of clusters to the typed
// program, value by value: what backward reads of forward, and parameters.
// Temporaries are not counted. docs/Simulation.md says how.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_PREDICT_SOFTWAREMEMORY_H
#define TESSERA_PREDICT_SOFTWAREMEMORY_H

#include "tessera/Pipelines/PlannedModel.h"
#include "tessera/Report/Report.h"
#include "tessera/Simulate/Cluster.h"
#include "tessera/Train/SavedTensors.h"
#include "llvm/Support/JSON.h"
#include <optional>

namespace tessera {

/// Bytes of a rank by kind.
struct MemoryKinds {
  double weights = 0, gradients = 0, optimizer = 0, activations = 0;
  double total() const { return weights + gradients + optimizer + activations; }
  llvm::json::Object json() const;
};

/// The memory of a rank of one stage, when it needs most; `layers` is the part
/// of it that the model's layers need, without embedding, head and loss.
struct StageMemory {
  MemoryKinds all, layers;
};

/// Equal tensors of equal layers that one micro-batch saves.
struct SavedGroup {
  std::string kind, op, place;
  std::set<int64_t> layers;
  int64_t stage = 0, count = 0;
  double bytes = 0; ///< Sum over all of them.
};

struct SoftwareMemory {
  std::vector<StageMemory> stages;
  std::vector<SavedGroup> saved;
  std::string unknown; ///< Why there is nothing of this; "": there is.

  size_t largest() const; ///< The stage that needs most.
  std::string text(size_t width) const;
  llvm::json::Object json() const;
};

/// Returns the memory of the training step that `options` ask for, in
/// `precision`, on a cluster that has such facts. `report` is of its program,
/// which was simulated. Errors are diagnostics of the context, as compileModel
/// has them.
mlir::FailureOr<SoftwareMemory> softwareMemory(mlir::MLIRContext &context,
                                               const PlannedModel &options,
                                               Precision precision,
                                               const simulate::Cluster &cluster,
                                               const Report &report);

} // namespace tessera

#endif // TESSERA_PREDICT_SOFTWAREMEMORY_H
