//===- BufferSharing.h - what a memory planner asks of a kernel -*- C++ -*-===//
// Finds the results that may overwrite an argument, and how a launch may be
// split.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LOWER_KERNELS_BUFFERSHARING_H
#define TESSERA_LOWER_KERNELS_BUFFERSHARING_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tessera {

/// Pairs of an argument and a result (both numbered as in the function) that
/// may have the same memory: same type, and no element of the argument is read
/// after the result's element is written. None of a function that is not a
/// supported kernel.
llvm::SmallVector<std::pair<unsigned, unsigned>>
findSharedBuffers(mlir::func::FuncOp kernel);

/// The ways to split [0, count) of a kernel: at multiples of `grain`, which
/// keeps cache lines and vectors whole. The results do not depend on it.
struct LaunchShape {
  int64_t count = 0;
  int64_t grain = 1;
};
mlir::FailureOr<LaunchShape> getLaunchShape(mlir::func::FuncOp kernel);

} // namespace tessera

#endif // TESSERA_LOWER_KERNELS_BUFFERSHARING_H
