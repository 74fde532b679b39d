//===- Stages.h - chunks of the model on pipeline stages --------*- C++ -*-===//

#ifndef TESSERA_DISTRIBUTE_STAGES_H
#define TESSERA_DISTRIBUTE_STAGES_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace tessera {

/// The chunk of an op (`dist.chunk`).
std::optional<int64_t> chunkOf(mlir::Operation *op);

/// Gives an op without a chunk that of `from`, which may be null.
void inheritChunk(mlir::Operation *op, mlir::Operation *from);

} // namespace tessera

#endif // TESSERA_DISTRIBUTE_STAGES_H
