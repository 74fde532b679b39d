//===- KernelMath.h - scalar arithmetic of kernels --------------*- C++ -*-===//

#ifndef TESSERA_LIB_LOWER_KERNELS_KERNELMATH_H
#define TESSERA_LIB_LOWER_KERNELS_KERNELMATH_H

#include "mlir/IR/Builders.h"

namespace tessera {

/// Widens a scalar of bf16 or i8 for computing; the identity for others.
mlir::Value widen(mlir::OpBuilder &builder, mlir::Location loc,
                  mlir::Value value);
/// Rounds a computed scalar to an element type.
mlir::Value narrow(mlir::OpBuilder &builder, mlir::Location loc,
                   mlir::Value value, mlir::Type type);
/// Returns a float constant of the type of `like`.
mlir::Value constantLike(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value like, double value);
/// Returns the value where the condition holds, else 0.
mlir::Value zeroUnless(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value condition, mlir::Value value);
/// Returns the `linalg.index` of a loop as i64.
mlir::Value index64(mlir::OpBuilder &builder, mlir::Location loc, int64_t dim);
/// Index (i64) along dimension `dim` of an element of a row-major array of
/// these sizes, in a loop over rows and columns of its elements, in order. A
/// dimension lies wholly within the columns or wholly within the rows.
mlir::Value indexAlong(mlir::OpBuilder &builder, mlir::Location loc,
                       llvm::ArrayRef<int64_t> sizes, int64_t columns,
                       unsigned dim);
/// Returns the first word of Philox4x32-10 for a 64-bit counter and key (i64),
/// as i32.
mlir::Value emitPhilox(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value index, mlir::Value key);

} // namespace tessera

#endif // TESSERA_LIB_LOWER_KERNELS_KERNELMATH_H
