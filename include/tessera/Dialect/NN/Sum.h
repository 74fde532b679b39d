//===- Sum.h - totals of two, and of all ----------------------------------===//

#ifndef TESSERA_DIALECT_NN_SUM_H
#define TESSERA_DIALECT_NN_SUM_H

#include "mlir/IR/Builders.h"

namespace tessera::nn {

/// The tag (`nn.tag`) of a scalar that is summed over all micro-batches before
/// the first one runs.
inline constexpr llvm::StringLiteral kBatchTotalTag = "batch_total";

/// a + b, an `nn.add` of two values of one type.
mlir::Value sumOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a,
                  mlir::Value b);

} // namespace tessera::nn

#endif // TESSERA_DIALECT_NN_SUM_H
