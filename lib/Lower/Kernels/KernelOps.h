//===- KernelOps.h - the families of ops in kernels -------------*- C++ -*-===//

#ifndef TESSERA_LIB_LOWER_KERNELS_KERNELOPS_H
#define TESSERA_LIB_LOWER_KERNELS_KERNELOPS_H

#include "mlir/IR/MLIRContext.h"

namespace tessera {

/// Functions of elements: map, cast, dropout, adamw, ...
void attachPointwiseKernelOps(mlir::MLIRContext &context);
/// Products, sums and repetitions: einsum, add, broadcast.
void attachProductKernelOps(mlir::MLIRContext &context);
/// Ops that move elements: embedding, pick, max, prefix_grad, rope.
void attachLookupKernelOps(mlir::MLIRContext &context);
/// Ops that depend on the rank: rt.first, rt.slice, rt.pad.
void attachRankKernelOps(mlir::MLIRContext &context);

/// dist.mask, which reads where the rank's slice ends.
void attachMaskKernelOp(mlir::MLIRContext &context);

} // namespace tessera

#endif // TESSERA_LIB_LOWER_KERNELS_KERNELOPS_H
