//===- ConversionReasons.h - why a program communicates ---------*- C++ -*-===//

#ifndef TESSERA_PARTITION_CONVERSIONREASONS_H
#define TESSERA_PARTITION_CONVERSIONREASONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tessera/Dialect/Dist/Dist.h"
#include "llvm/ADT/DenseSet.h"
#include <string>

namespace tessera {

/// The ops whose first operand is the gradient of a parameter, whole.
llvm::SmallVector<mlir::Operation *>
readersOfGradients(mlir::func::FuncOp func);

/// Returns the gates by which everything that reads a value is routed: what
/// they route nowhere is not read. Null if there are none, or several.
mlir::Value gatesOfReaders(mlir::Value value);

/// Why the conversions of a typed program communicate, as the report says it.
class ConversionReasons {
public:
  explicit ConversionReasons(mlir::func::FuncOp func);
  /// Returns the reason of a conversion that communicates.
  std::string of(dist::ConvertOp op) const;

private:
  /// Those on the way to the optimizer.
  llvm::DenseSet<mlir::Operation *> ofGradients;
};

} // namespace tessera

#endif // TESSERA_PARTITION_CONVERSIONREASONS_H
