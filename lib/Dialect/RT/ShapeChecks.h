//===- ShapeChecks.h - checks that op families share ------------*- C++ -*-===//

#ifndef TESSERA_LIB_DIALECT_RT_SHAPECHECKS_H
#define TESSERA_LIB_DIALECT_RT_SHAPECHECKS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace tessera::rt {

/// Emits an error unless the types differ in the size of dimension `dim` only.
mlir::LogicalResult verifyAlong(mlir::Operation *op,
                                mlir::RankedTensorType from,
                                mlir::RankedTensorType to, uint64_t dim);

/// Returns whether rows are compact, [rows, columns]; of gates [experts], the
/// rows of all experts are.
bool areCompact(mlir::Value rows, mlir::Value gates);

/// Emits an error unless gates are [.., experts] and rows [experts, ..,
/// columns], or compact.
mlir::LogicalResult verifyGates(mlir::Operation *op, mlir::Value rows,
                                mlir::Value gates);

} // namespace tessera::rt

#endif // TESSERA_LIB_DIALECT_RT_SHAPECHECKS_H
