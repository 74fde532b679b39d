//===- ValueNames.h - what values are called where they are kept *- C++ -*-===//

#ifndef TESSERA_PARTITION_VALUENAMES_H
#define TESSERA_PARTITION_VALUENAMES_H

#include "mlir/IR/Operation.h"
#include <string>

namespace tessera {

/// Returns rt-number-values' name for results of an op, behind their number:
/// the op and the part of the model that it is of, "einsum of h.1.mlp".
std::string kindAndPart(mlir::Operation *op);

} // namespace tessera

#endif // TESSERA_PARTITION_VALUENAMES_H
