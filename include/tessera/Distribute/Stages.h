//===- Stages.h - chunks of the model on pipeline stages --------*- C++ -*-===//

#ifndef TESSERA_DISTRIBUTE_STAGES_H
#define TESSERA_DISTRIBUTE_STAGES_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace tessera {

/// On sends and receives: which value of which micro-batch. Of two messages
/// with as many bytes, one may not be taken for the other.
constexpr llvm::StringLiteral kMessageAttr = "rt.message";

/// The chunk of an op (`dist.chunk`).
std::optional<int64_t> chunkOf(mlir::Operation *op);

/// Gives an op without a chunk that of `from`, which may be null.
void inheritChunk(mlir::Operation *op, mlir::Operation *from);

} // namespace tessera

#endif // TESSERA_DISTRIBUTE_STAGES_H
