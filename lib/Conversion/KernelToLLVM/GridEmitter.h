//===- GridEmitter.h - a CUDA kernel from a kernel --------------*- C++ -*-===//
// Emits `void k(buffers..., scalars, workspace)` (tsr_abi_device_kernel) as an
// llvm.func with nvvm.kernel, and chooses its grid. The phases and bodies are
// the CPU's; only who computes which lanes differs. One file per traversal.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_CONVERSION_KERNELTOLLVM_GRIDEMITTER_H
#define TESSERA_LIB_CONVERSION_KERNELTOLLVM_GRIDEMITTER_H

#include "KernelEmitter.h"

namespace tessera {

/// A one-dimensional grid, fixed at compile time.
struct GridShape {
  int64_t blocks = 1;
  int64_t threads = 32;    ///< of a block
  int64_t sharedBytes = 0; ///< dynamic shared memory of a block
};

class GridEmitter : KernelEmitter {
public:
  /// A warp's threads; a group is a warp or a whole block.
  static constexpr int64_t kWarp = 32;

  /// `hasLibm`: functions of f64 can be called.
  GridEmitter(const Kernel &kernel, bool hasLibm);
  /// Creates the function next to the kernel, under the same name; the caller
  /// erases the kernel. Emits an error for what CUDA code is not made for.
  mlir::LogicalResult emit();
  const GridShape &shape() const { return grid; }

private:
  mlir::LogicalResult check();
  void chooseLanes();
  void bindArguments();
  /// `bytes` of dynamic shared memory; its offset.
  int64_t reserveShared(int64_t bytes);
  mlir::Value sharedPointer(mlir::OpBuilder &builder, mlir::Value offset);
  /// Emits inside `if (condition)`.
  mlir::OpBuilder guard(mlir::OpBuilder &builder, mlir::Value condition);
  mlir::Value constantTrue(mlir::OpBuilder &builder);
  /// What is uniform comes before the branch that `inside` emits in.
  void leaveToUniform(const Scope &inside);

  void emitFlat() override;

  void chooseRowGroups();
  bool groupIsWarp() const { return groupThreads == kWarp; }
  /// The thread's number in its group.
  mlir::Value member() const { return groupIsWarp() ? lane : thread; }
  void allocateScratch(mlir::OpBuilder &builder, mlir::Value group);
  void emitRows() override;
  mlir::Value existing(const Position &position);
  void emitRowLoop(const Phase &phase, Scope &rowScope, mlir::Value row);

  void emitColumns() override;
  void emitColumnLoop(const Phase &phase, Position column, mlir::Value active);

  /// The combination of all lanes of a warp, in every one of them.
  mlir::Value combineWarp(mlir::OpBuilder &builder, const Reduction &reduction,
                          mlir::Value value);
  /// The same over the threads of a row's group.
  mlir::Value combineGroup(mlir::OpBuilder &builder, const Reduction &reduction,
                           mlir::Value value);
  /// The same over the warps of a block, lane by lane, in order.
  mlir::Value combineWarps(mlir::OpBuilder &builder, const Reduction &reduction,
                           mlir::Value value);

  bool hasLibm;
  GridShape grid;
  unsigned lanes = 1;
  /// Threads that walk a row together: kWarp or all of the block.
  int64_t groupThreads = kWarp;
  /// i64 coordinates of the thread.
  mlir::Value thread, block, warp, lane;
};

} // namespace tessera

#endif // TESSERA_LIB_CONVERSION_KERNELTOLLVM_GRIDEMITTER_H
