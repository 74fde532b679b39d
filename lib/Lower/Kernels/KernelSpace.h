//===- KernelSpace.h - the rows and columns of an op ------------*- C++ -*-===//
// A kernel works on rows and columns. This says of an nn op which of its
// dimensions can be rows, and what each operand is then: the whole, a value per
// row, a value per column, a scalar.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_LOWER_KERNELS_KERNELSPACE_H
#define TESSERA_LIB_LOWER_KERNELS_KERNELSPACE_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <string>

namespace tessera {

/// What a value is to a kernel over R rows and C columns.
enum class ViewKind {
  Full,   ///< [R, C]
  Row,    ///< [R]
  Column, ///< [C]
  Scalar, ///< []
  Table,  ///< [V, C], read at a row given by an index
  Cycle   ///< [R', C], read at row mod R'
};

/// How an op fits a kernel.
struct KernelSpace {
  enum Reduction { None, Rows, Columns };

  std::string factors; ///< Of the iteration space, outermost first.
  llvm::SmallVector<int64_t> sizes;
  llvm::SmallVector<std::string> operands; ///< Factors of each operand.
  std::string result;
  /// Leading factors that are rows; -1 if any split will do.
  int64_t split = -1;
  Reduction reduction = None;

  int64_t elements() const;
  int64_t rows() const;
  int64_t columns() const;
};

/// Whether an op reads an operand at rows of its own choice (`Table`), so that
/// no kernel may hold the op and what makes the operand.
bool readsTable(mlir::Operation *op, unsigned operand);

/// Whether of an operand only the shape matters.
bool lendsShape(mlir::Operation *op, unsigned operand);

/// The space of an op that kernels can hold; nullopt for any other op.
std::optional<KernelSpace> kernelSpace(mlir::Operation *op);

} // namespace tessera

#endif // TESSERA_LIB_LOWER_KERNELS_KERNELSPACE_H
