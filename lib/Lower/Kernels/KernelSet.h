//===- KernelSet.h - kernels, equal ones once -------------------*- C++ -*-===//

#ifndef TESSERA_LIB_LOWER_KERNELS_KERNELSET_H
#define TESSERA_LIB_LOWER_KERNELS_KERNELSET_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Lower/Kernels/BufferSharing.h"
#include <deque>
#include <unordered_map>

namespace tessera {

/// A kernel that launches of layers, micro-batches and stages share: they
/// differ in operands only.
struct SharedKernel {
  mlir::func::FuncOp func;
  size_t hash = 0; ///< Hash of its ops.
  LaunchShape shape;
  llvm::SmallVector<llvm::StringRef> ops; ///< "add", "map", for its name.
  llvm::SmallVector<rt::LaunchOp> launches;
};

/// In the order in which they were added.
class KernelSet {
public:
  /// Hash of what `insert` compares.
  static size_t hashOf(mlir::func::FuncOp kernel);

  /// The kernel that is equal in everything but the name, or a new one, and
  /// whether it is new. References stay valid.
  std::pair<SharedKernel &, bool> insert(mlir::func::FuncOp func, size_t hash);

  std::deque<SharedKernel> kernels;

private:
  std::unordered_map<size_t, llvm::SmallVector<SharedKernel *, 1>> known;
};

} // namespace tessera

#endif // TESSERA_LIB_LOWER_KERNELS_KERNELSET_H
