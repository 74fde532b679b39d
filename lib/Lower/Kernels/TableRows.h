//===- TableRows.h - rows of a table that a body chooses --------*- C++ -*-===//

#ifndef TESSERA_LIB_LOWER_KERNELS_TABLEROWS_H
#define TESSERA_LIB_LOWER_KERNELS_TABLEROWS_H

#include "mlir/IR/Builders.h"

namespace tessera {

/// Returns the element of a row (i64) of the table at the body's column, or 0
/// where `inside` is false.
mlir::Value rowOrZero(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value table, mlir::Value inside, mlir::Value row);

/// Reads row (o, j + shift) of a table of `from` rows for row (o, j) of a
/// result of `to` rows, 0 where that lies outside. `shift` may be null.
mlir::Value shiftedRow(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value table, int64_t from, int64_t to,
                       mlir::Value shift);

} // namespace tessera

#endif // TESSERA_LIB_LOWER_KERNELS_TABLEROWS_H
