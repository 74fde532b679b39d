//===- GridShape.h - the grid of a kernel -----------------------*- C++ -*-===//
// Chooses the threads that compute a kernel, and if it becomes one kernel or
// two.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_CODEGEN_KERNELS_GPU_GRIDSHAPE_H
#define TESSERA_LIB_CODEGEN_KERNELS_GPU_GRIDSHAPE_H

#include "tessera/Lower/Kernels/KernelLoops.h"

namespace tessera {

constexpr int64_t kMultiprocessors = 132; ///< An H100 has so many.
/// Threads of a warp.
constexpr int64_t kWarp = 32;
/// Warps of a block that adds a slice of the rows.
constexpr int64_t kWarpsOfSlice = 8;
/// The shared memory that a block may take so that several share a
/// multiprocessor.
constexpr int64_t kMaxSharedBytes = 48 << 10;

/// A one-dimensional grid, fixed at compile time.
struct GridShape {
  int64_t blocks = 1;
  int64_t threads = 32;    ///< in a block
  int64_t sharedBytes = 0; ///< dynamic shared memory of a block
};

/// The part of a fused kernel that one CUDA kernel computes.
enum class GridRole {
  Whole,
  Partial, ///< sums along columns of each slice of rows, to the workspace; in a
           ///< kernel of rows all else too
  Total    ///< from those sums, the results along columns
};

/// Rows cut into slices, so that sums along few columns fill a GPU. In a kernel
/// of rows a slice is what one block takes: every `count`-th row, or group of
/// `groups` rows.
struct RowSlices {
  int64_t count = 0;
  /// In each slice of a column kernel; the last may have fewer.
  int64_t rows = 0;
  int64_t groups = 1;  ///< Rows that a block of a kernel of rows has at once.
  int64_t threads = 0; ///< in a block
  unsigned lanes = 1;  ///< neighbouring columns of a thread
  /// Blocks of a multiprocessor, which all run at the same time.
  int64_t residentBlocks = 1;
  /// The begin of the sums of each reduction: [count, columns] of its type.
  llvm::SmallVector<int64_t> offsets;
  int64_t workspaceBytes = 0;
};

/// Returns the slices of a kernel; nullopt where one grid is better: for
/// columns with few rows, with enough columns, or with several loops over the
/// rows, and for rows without reductions along columns.
std::optional<RowSlices> sliceRows(const Kernel &kernel);

/// Returns the elements of the widest 2-D operand that a thread moves as 16
/// bytes; fewer where one of the lengths would leave a rest.
unsigned lanesOfPlanes(const Kernel &kernel, llvm::ArrayRef<int64_t> lengths);
/// Returns the lengths that the lanes of a row must divide: the distance
/// between rows in memory, and the number of columns unless the last vector may
/// reach into padding. Sums along columns and vectors of columns have no
/// padding.
llvm::SmallVector<int64_t> lengthsOfRows(const Kernel &kernel);
/// Rows that a warp of a column kernel loads before it uses them: up to 4.
unsigned rowsInFlight(const Kernel &kernel, const LoopPhase &phase);
/// Returns the reductions along columns of a kernel of rows.
llvm::SmallVector<Reduction> columnReductionsOf(const KernelLoops &loops);
/// Returns the bytes of a row that its phases keep for later ones.
int64_t scratchBytes(const KernelLoops &loops, int64_t cols);
/// Shared memory in which the warps of a block exchange their sums.
int64_t sharedBytesOfSums(const KernelLoops &loops, int64_t warps,
                          unsigned lanes);

} // namespace tessera

#endif // TESSERA_LIB_CODEGEN_KERNELS_GPU_GRIDSHAPE_H
