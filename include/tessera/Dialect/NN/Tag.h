//===- Tag.h - what an op is to the strategies ------------------*- C++ -*-===//

#ifndef TESSERA_DIALECT_NN_TAG_H
#define TESSERA_DIALECT_NN_TAG_H

#include "mlir/IR/Operation.h"

namespace tessera::nn {

/// The tag of a scalar that is summed over all micro-batches before the first
/// one runs.
inline constexpr llvm::StringLiteral kBatchTotalTag = "batch_total";

/// Whether the op's `nn.tag` is `name`.
bool hasTag(mlir::Operation *op, llvm::StringRef name);

} // namespace tessera::nn

#endif // TESSERA_DIALECT_NN_TAG_H
