//===- ArtifactLimits.h - what is too large for an artifact -----*- C++ -*-===//
#ifndef TESSERA_TARGET_ARTIFACTLIMITS_H
#define TESSERA_TARGET_ARTIFACTLIMITS_H

#include "mlir/IR/BuiltinOps.h"

namespace tessera {

/// Fails where the values of a serial program are so large that sums and
/// products of their sizes may overflow in what follows.
mlir::LogicalResult checkSizes(mlir::ModuleOp module);

/// Fails where a rank's arena is larger than what the runtime takes.
mlir::LogicalResult checkArena(mlir::Operation *owner, int64_t bytes);

} // namespace tessera

#endif // TESSERA_TARGET_ARTIFACTLIMITS_H
