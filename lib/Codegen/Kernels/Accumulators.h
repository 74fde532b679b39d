//===- Accumulators.h - reductions in vector registers ----------*- C++ -*-===//
// The identity of a reduction, its update, and the final combination in a fixed
// order.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_CODEGEN_KERNELS_ACCUMULATORS_H
#define TESSERA_LIB_CODEGEN_KERNELS_ACCUMULATORS_H

#include "tessera/Lower/Kernels/Kernel.h"

namespace tessera {

/// The value that leaves the other operand as it is; `type` may be a vector.
mlir::Value identityOf(mlir::OpBuilder &builder, mlir::Location loc,
                       const Reduction &reduction, mlir::Type type);
mlir::Value combine(mlir::OpBuilder &builder, mlir::Location loc,
                    const Reduction &reduction, mlir::Value lhs,
                    mlir::Value rhs);
/// Lanes outside the mask keep `accumulator`.
mlir::Value accumulate(mlir::OpBuilder &builder, mlir::Location loc,
                       const Reduction &reduction, mlir::Value accumulator,
                       mlir::Value input, mlir::Value mask);
/// Combines halves of the lanes until `lanes` are left; a scalar for one.
mlir::Value combineLanes(mlir::OpBuilder &builder, mlir::Location loc,
                         const Reduction &reduction, mlir::Value vector,
                         unsigned lanes);

} // namespace tessera

#endif // TESSERA_LIB_CODEGEN_KERNELS_ACCUMULATORS_H
