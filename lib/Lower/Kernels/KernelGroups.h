//===- KernelGroups.h - which ops share a kernel ----------------*- C++ -*-===//

#ifndef TESSERA_LIB_LOWER_KERNELS_KERNELGROUPS_H
#define TESSERA_LIB_LOWER_KERNELS_KERNELGROUPS_H

#include "mlir/IR/Block.h"
#include "tessera/Lower/Kernels/KernelSpace.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <memory>
#include <vector>

namespace tessera {

/// An op in a kernel.
struct KernelMember {
  mlir::Operation *op;
  KernelSpace space;
  /// The op works on one value per row of the group (not on rows x columns).
  bool perRow = false;
};

/// Ops over the same rows and columns, launched where the last of them stands.
struct KernelGroup {
  /// Both: rows, and reductions over all rows.
  enum Schedule { Row, Column, Both };
  Schedule schedule = Row;
  int64_t rows = 1, columns = 1;
  /// No member has fixed the split into rows and columns yet.
  bool free = false;
  std::vector<KernelMember> members;
  llvm::DenseSet<mlir::Value> produced;
  llvm::DenseSet<mlir::Value> read; ///< Operands of more than one element.
  bool open = true;                 ///< May it still grow?
  size_t number = 0;                ///< In the order of first members.
  mlir::Attribute microBatch;       ///< The only one of its members, if known.
};

/// Groups the kernel ops of a block, in program order. An op joins an open
/// group of its rows and columns with which it shares a value, and joins the
/// groups whose values it reads; a group is closed when an op outside of it
/// reads one of its values. Ops of different micro-batches do not share a
/// kernel: the sums over all of them would be one that keeps all terms until
/// the end. With `reducesColumns`, reductions along columns join a group of
/// rows that has read or made what they read.
std::vector<std::unique_ptr<KernelGroup>> formGroups(mlir::Block &block,
                                                     bool reducesColumns);

} // namespace tessera

#endif // TESSERA_LIB_LOWER_KERNELS_KERNELGROUPS_H
