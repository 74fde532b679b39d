//===- Kernel.h - what a fused kernel function says -------------*- C++ -*-===//
// A checked view of one function with `rt.schedule`: its iteration space, what
// every tensor and body value varies over, and its reductions. Everything that
// the code generator cannot do is refused here, with a diagnostic.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LOWER_KERNELS_KERNEL_H
#define TESSERA_LOWER_KERNELS_KERNEL_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tessera {

/// A set of the two iteration dimensions of a kernel.
using Dims = unsigned;
enum : Dims { kNone = 0, kRow = 1, kCol = 2, kBoth = 3 };

/// The order in which [begin, end) and the vector lanes run over the iteration
/// space.
enum class Traversal {
  /// Rows one by one; lanes run over the columns of a row.
  Rows,
  /// Blocks of columns; each walks all rows in order.
  Columns,
  /// One dimension: no reduction, and lanes run over [begin, end).
  Flat
};

/// A reduction: `result[outer] = combine over inner(accumulator, input)`. One
/// along columns in a kernel of rows is the other way round.
struct Reduction {
  mlir::linalg::GenericOp op;
  unsigned resultNumber = 0;
  /// The body op that combines the accumulator with `input`.
  mlir::Operation *combiner = nullptr;
  mlir::Value input;

  mlir::Value result() const { return op->getResult(resultNumber); }
  mlir::Value init() const {
    mlir::linalg::GenericOp generic = op;
    return generic.getDpsInits()[resultNumber];
  }
};

class Kernel {
public:
  /// Checks `func` and emits an error for what is not supported.
  static mlir::FailureOr<Kernel> analyze(mlir::func::FuncOp func);

  mlir::func::FuncOp func;
  Traversal traversal = Traversal::Rows;
  /// Rows one by one, but with reductions along columns over all of them too.
  bool reducesColumns = false;
  /// Sizes of the iteration space; 1 where the dimension does not exist.
  int64_t rows = 1, cols = 1;
  /// The dimension that [begin, end) runs over, and the one walked within it.
  Dims outer = kRow, inner = kCol;
  llvm::SmallVector<mlir::linalg::GenericOp> generics;
  llvm::SmallVector<mlir::Value> results;

  /// Returns the dimensions that the elements of a tensor lie along.
  Dims domainOf(mlir::Value tensor) const { return domains.lookup(tensor); }
  /// Returns the iteration dimensions of a generic, in loop order.
  llvm::ArrayRef<Dims> loopsOf(mlir::linalg::GenericOp op) const {
    return loops.find(op)->second;
  }
  Dims domainOf(mlir::linalg::GenericOp op) const;
  /// Returns the dimensions on which a value inside a generic's body depends.
  Dims varianceOf(mlir::Value scalar) const { return variances.lookup(scalar); }
  const Reduction *reductionOf(mlir::Value tensor) const;
  bool isReduction(mlir::linalg::GenericOp op) const;
  /// Returns whether a kernel of rows reduces along columns here.
  bool isColumnReduction(mlir::linalg::GenericOp op) const;
  /// Returns whether all elements are one scalar: constants, `linalg.fill` and
  /// `tensor.empty`. `splatAttr` returns the scalar (null for `tensor.empty`).
  bool isSplat(mlir::Value tensor) const { return splats.contains(tensor); }
  mlir::Attribute splatAttr(mlir::Value tensor) const;
  mlir::Value splatValue(mlir::Value tensor) const;
  bool isTable(mlir::Value tensor) const { return tables.contains(tensor); }
  /// Lanes run over these dimensions.
  Dims laneDims() const {
    return traversal == Traversal::Rows      ? kCol
           : traversal == Traversal::Columns ? kCol
                                             : kBoth;
  }

private:
  friend class KernelAnalysis;
  llvm::DenseMap<mlir::Value, Dims> domains;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<Dims, 2>> loops;
  llvm::DenseMap<mlir::Value, Dims> variances;
  llvm::DenseMap<mlir::Value, Reduction> reductions;
  llvm::DenseSet<mlir::Value> splats, tables;
};

/// Returns the tensor that a body's block argument is an element of.
mlir::Value tensorOf(mlir::BlockArgument argument);

} // namespace tessera

#endif // TESSERA_LOWER_KERNELS_KERNEL_H
