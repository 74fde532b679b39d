//===- GridReductions.h - reductions over threads ---------------*- C++ -*-===//
// Threads combine values always in the same order, so a result has the same
// bits in every run.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_CODEGEN_KERNELS_GPU_GRIDREDUCTIONS_H
#define TESSERA_LIB_CODEGEN_KERNELS_GPU_GRIDREDUCTIONS_H

#include "mlir/IR/Builders.h"
#include "tessera/Lower/Kernels/Kernel.h"

namespace tessera {

/// The dynamic shared memory of a block, reserved while its code is emitted.
class SharedMemory {
public:
  /// Returns the offset of `bytes` bytes.
  int64_t reserve(int64_t bytes);
  mlir::Value pointer(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value offset);
  int64_t bytes() const { return size; }

private:
  int64_t size = 0;
};

/// Warps that combine values, and the place of a thread among them (i64).
struct WarpGroup {
  int64_t warps = 1;
  mlir::Value warp, lane;
  SharedMemory &memory;
};

/// Returns the combination of a scalar of all threads of the group, in each of
/// them.
mlir::Value combineGroup(mlir::OpBuilder &builder, mlir::Location loc,
                         const Reduction &reduction, mlir::Value value,
                         const WarpGroup &group);
/// Returns the combination of a vector over the warps of the group in their
/// order, for each lane, in all of them.
mlir::Value combineWarps(mlir::OpBuilder &builder, mlir::Location loc,
                         const Reduction &reduction, mlir::Value value,
                         const WarpGroup &group, unsigned alignment);

} // namespace tessera

#endif // TESSERA_LIB_CODEGEN_KERNELS_GPU_GRIDREDUCTIONS_H
