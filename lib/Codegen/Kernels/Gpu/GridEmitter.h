//===- GridEmitter.h - a CUDA kernel from a kernel --------------*- C++ -*-===//
// Emits `void k(buffers..., scalars, workspace)` (tsr_abi_device_kernel) as an
// llvm.func with nvvm.kernel, and chooses its grid. The phases and bodies are
// the CPU's; only which thread computes which lanes differs.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_CODEGEN_KERNELS_GPU_GRIDEMITTER_H
#define TESSERA_LIB_CODEGEN_KERNELS_GPU_GRIDEMITTER_H

#include "lib/Codegen/Kernels/Gpu/GridReductions.h"
#include "lib/Codegen/Kernels/Gpu/GridShape.h"
#include "lib/Codegen/Kernels/KernelEmitter.h"

namespace tessera {

/// The part of a kernel that a CUDA kernel computes, and its name.
struct GridPart {
  std::string name;
  GridRole role = GridRole::Whole;
  RowSlices slices = {}; ///< For GridRole::Partial and GridRole::Total.
};

class GridEmitter : KernelEmitter {
public:
  /// `hasLibm`: functions of f64 can be called.
  GridEmitter(const Kernel &kernel, GridPart part, bool hasLibm);
  /// Creates the function next to the kernel; the caller erases the kernel.
  /// Emits an error for what CUDA code is not made for.
  mlir::LogicalResult emit();
  const GridShape &shape() const { return grid; }
  /// Returns the function that was emitted.
  mlir::LLVM::LLVMFuncOp code() const { return function; }

private:
  mlir::LogicalResult check();
  void bindArguments();
  /// Emits inside `if (condition)`.
  mlir::OpBuilder guard(mlir::OpBuilder &builder, mlir::Value condition);
  mlir::Value constantTrue(mlir::OpBuilder &builder);
  /// Emits uniform values before the branch that `inside` emits in.
  void leaveToUniform(const Scope &inside);

  void emitFlat() override;

  void chooseRowGroups();
  bool groupIsWarp() const { return groupThreads == kWarp; }
  /// Returns the thread's number in its group.
  mlir::Value member() const { return groupIsWarp() ? lane : thread; }
  void allocateScratch(mlir::OpBuilder &builder, mlir::Value group);
  void emitRows() override;
  mlir::Value existing(const Position &position);
  void emitRowLoop(const LoopPhase &phase, Scope &rowScope, mlir::Value row);
  /// Combines what the threads of a row have of the phase's reductions.
  void finishReductions(const LoopPhase &phase, Scope &rowScope,
                        mlir::Value row, mlir::ValueRange sums);
  /// Stores the results per row.
  void finishRow(Scope &rowScope, mlir::Value row);

  /// A thread's columns of every row: their first, and whether they exist.
  using Steps = llvm::SmallVector<std::pair<mlir::Value, mlir::Value>>;
  Steps stepsOfRow();
  void emitSharedRows();
  /// Emits one turn; takes and returns the thread's reductions along columns.
  LaneValues emitSharedRow(mlir::OpBuilder builder, mlir::Value row,
                           const Steps &steps, mlir::ValueRange carried);
  /// Emits the steps of a row; `sums` are the thread's reductions along
  /// columns, by step, which it updates.
  void emitRowSteps(const LoopPhase &phase, Scope &rowScope, mlir::Value row,
                    const Steps &steps, llvm::MutableArrayRef<LaneValues> sums);
  void storeColumnSums(mlir::OpBuilder &builder, const Steps &steps,
                       mlir::ValueRange sums);

  void chooseColumnGrid();
  /// Returns the block's tile, and sets `slice`.
  mlir::Value tileOfBlock();
  /// Returns the thread's first column, and whether its columns exist.
  std::pair<mlir::Value, mlir::Value> chooseColumns(mlir::Value tile);
  void emitColumns() override;
  /// Returns the sums of the block's rows, in all its warps.
  LaneValues emitColumnLoop(const LoopPhase &phase, Position column,
                            mlir::Value active);
  mlir::Value isStoring(mlir::OpBuilder &builder, mlir::Value active);

  /// Rows that the warps of a block share: groups of neighbours in turn.
  struct SharedRows {
    mlir::Value begin, end;
    int64_t total = 0; ///< threads of all blocks
    unsigned group = 1;
  };
  using GroupBody = llvm::function_ref<LaneValues(
      mlir::OpBuilder &, llvm::ArrayRef<mlir::Value> rows,
      const LaneValues &carried)>;
  SharedRows rowsOfBlock(mlir::OpBuilder &builder, const LoopPhase &phase);
  LaneValues walkRows(mlir::OpBuilder &builder, const SharedRows &rows,
                      LaneValues carried, GroupBody emitGroup);
  LaneValues walkGroups(mlir::OpBuilder &builder, mlir::Value first,
                        mlir::Value end, int64_t group,
                        const LaneValues &carried, GroupBody emitGroup);
  /// Evaluates a phase at some rows: first their planes are loaded, and last
  /// comes what is stored and added.
  LaneValues emitRowGroup(mlir::OpBuilder &builder, const LoopPhase &phase,
                          llvm::ArrayRef<mlir::Value> rows,
                          const Position &column, LaneValues carried);

  /// Returns the sum of a slice in the workspace, at the thread's columns: that
  /// of the reduction with this number.
  mlir::Value partialSum(mlir::OpBuilder &builder, unsigned number,
                         mlir::Type element, mlir::Value slice,
                         mlir::Value column);
  void storePartialSums(const LoopPhase &phase, const LaneValues &sums,
                        const Position &column, mlir::Value active);
  LaneValues addPartialSums(mlir::OpBuilder &builder, const LoopPhase &phase,
                            llvm::ArrayRef<mlir::Value> slices,
                            mlir::Value column, LaneValues carried);

  GridPart part;
  bool hasLibm;
  GridShape grid;
  SharedMemory shared;
  unsigned lanes = 1;
  /// Threads that walk a row together: a warp or the whole block.
  int64_t groupThreads = kWarp;
  /// i64 coordinates of the thread.
  mlir::Value thread, block, warp, lane;
  mlir::Value workspace;
  /// The block's slice of the rows; 0 where there is one.
  mlir::Value slice;
};

} // namespace tessera

#endif // TESSERA_LIB_CODEGEN_KERNELS_GPU_GRIDEMITTER_H
