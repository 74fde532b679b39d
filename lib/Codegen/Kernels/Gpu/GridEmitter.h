//===- GridEmitter.h - a CUDA kernel from a kernel --------------*- C++ -*-===//
// Emits `void k(buffers..., scalars, workspace)` (tsr_abi_device_kernel) as an
// llvm.func with nvvm.kernel, and chooses its grid. The phases and bodies are
// the CPU's; only who computes which lanes differs. One file per traversal.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_CODEGEN_KERNELS_GPU_GRIDEMITTER_H
#define TESSERA_LIB_CODEGEN_KERNELS_GPU_GRIDEMITTER_H

#include "lib/Codegen/Kernels/Gpu/GridShape.h"
#include "lib/Codegen/Kernels/KernelEmitter.h"

namespace tessera {

/// What a CUDA kernel computes, and under which name.
struct GridPart {
  std::string name;
  Stage stage = Stage::Whole;
  /// Of Stage::Partial and Stage::Total.
  RowSlices slices = {};
};

class GridEmitter : KernelEmitter {
public:
  /// A warp's threads; a group is a warp or a whole block.
  static constexpr int64_t kWarp = 32;

  static constexpr int64_t kWarpsOfSlice = 8;

  /// `hasLibm`: functions of f64 can be called.
  GridEmitter(const Kernel &kernel, GridPart part, bool hasLibm);
  /// Creates the function next to the kernel; the caller erases the kernel.
  /// Emits an error for what CUDA code is not made for.
  mlir::LogicalResult emit();
  const GridShape &shape() const { return grid; }

private:
  mlir::LogicalResult check();
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

  void chooseColumnGrid();
  /// Also sets `slice`.
  mlir::Value tileOfBlock();
  /// The thread's first column, and whether its columns exist.
  std::pair<mlir::Value, mlir::Value> chooseColumns(mlir::Value tile);
  void emitColumns() override;
  /// The sums of the block's rows, in all its warps.
  LaneValues emitColumnLoop(const Phase &phase, Position column,
                            mlir::Value active);
  mlir::Value isStoring(mlir::OpBuilder &builder, mlir::Value active);

  /// Rows that the warps of a block share: groups of neighbours in turn.
  struct SharedRows {
    mlir::Value begin, end;
    int64_t total = 0; ///< of all blocks
    unsigned group = 1;
  };
  using GroupBody = llvm::function_ref<LaneValues(
      mlir::OpBuilder &, llvm::ArrayRef<mlir::Value> rows,
      const LaneValues &carried)>;
  SharedRows rowsOfBlock(mlir::OpBuilder &builder, const Phase &phase);
  LaneValues walkRows(mlir::OpBuilder &builder, const SharedRows &rows,
                      LaneValues carried, GroupBody emitGroup);
  LaneValues walkGroups(mlir::OpBuilder &builder, mlir::Value first,
                        mlir::Value end, int64_t group,
                        const LaneValues &carried, GroupBody emitGroup);
  /// Evaluates a phase at some rows: first their planes are loaded, and last
  /// comes what is stored and added.
  LaneValues emitRowGroup(mlir::OpBuilder &builder, const Phase &phase,
                          llvm::ArrayRef<mlir::Value> rows,
                          const Position &column, LaneValues carried);

  /// The sum of a slice in the workspace, at the thread's columns.
  mlir::Value partialSum(mlir::OpBuilder &builder, const Phase &phase,
                         unsigned reduction, mlir::Value slice,
                         mlir::Value column);
  void storePartialSums(const Phase &phase, const LaneValues &sums,
                        const Position &column, mlir::Value active);
  LaneValues addPartialSums(mlir::OpBuilder &builder, const Phase &phase,
                            llvm::ArrayRef<mlir::Value> slices,
                            mlir::Value column, LaneValues carried);

  /// The combination of all lanes of a warp, in every one of them.
  mlir::Value combineWarp(mlir::OpBuilder &builder, const Reduction &reduction,
                          mlir::Value value);
  /// The same over the threads of a row's group.
  mlir::Value combineGroup(mlir::OpBuilder &builder, const Reduction &reduction,
                           mlir::Value value);
  /// The same over the warps of a block, lane by lane, in order.
  mlir::Value combineWarps(mlir::OpBuilder &builder, const Reduction &reduction,
                           mlir::Value value);

  GridPart part;
  bool hasLibm;
  GridShape grid;
  unsigned lanes = 1;
  /// Threads that walk a row together: kWarp or all of the block.
  int64_t groupThreads = kWarp;
  /// i64 coordinates of the thread.
  mlir::Value thread, block, warp, lane;
  mlir::Value workspace;
  /// The block's slice of the rows; 0 where there is one.
  mlir::Value slice;
};

} // namespace tessera

#endif // TESSERA_LIB_CODEGEN_KERNELS_GPU_GRIDEMITTER_H
