//===- Chunks.h - chunks of the model on pipeline stages --------*- C++ -*-===//

#ifndef TESSERA_DIALECT_DIST_CHUNKS_H
#define TESSERA_DIALECT_DIST_CHUNKS_H

#include "mlir/IR/Operation.h"
#include <optional>

namespace tessera {

/// Returns the chunk of an op (`dist.chunk`).
std::optional<int64_t> chunkOf(mlir::Operation *op);

/// Gives an op without a chunk that of `from`, which may be null.
void inheritChunk(mlir::Operation *op, mlir::Operation *from);

} // namespace tessera

#endif // TESSERA_DIALECT_DIST_CHUNKS_H
