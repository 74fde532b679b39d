//===- KernelSpace.h - the rows and columns of an op ------------*- C++ -*-===//
// A kernel works on rows and columns. A space says which dimensions of an op
// can be rows and how the op reads each of its operands.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LOWER_KERNELS_KERNELSPACE_H
#define TESSERA_LOWER_KERNELS_KERNELSPACE_H

#include "mlir/IR/Operation.h"
#include "tessera/Dialect/Dist/Dist.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <string>

namespace tessera {

/// An operand, and how an op reads it.
struct KernelOperand {
  enum Access {
    /// The body gets the element at its own place.
    Element,
    /// The body reads rows of its own choice, so no kernel may hold both the op
    /// and what makes the operand.
    Table,
    /// Only the shape matters; nothing is read.
    Shape
  };
  std::string factors;
  Access access = Element;
};

/// The iteration space of an op in a kernel.
struct KernelSpace {
  enum Reduction { None, Rows, Columns };
  /// The combination of the values of the body by a reduction.
  enum Combiner { Sum, Maximum };

  std::string factors; ///< Factors of the iteration space, outermost first.
  llvm::SmallVector<int64_t> sizes;
  llvm::SmallVector<KernelOperand> operands;
  std::string result;
  /// Leading factors that are rows; -1 if any split will do.
  int64_t split = -1;
  Reduction reduction = None;
  Combiner combiner = Sum;

  int64_t elements() const;
  int64_t rows() const;
  int64_t columns() const;
};

/// Returns the factors of a signature; an operand is read at its own place, or
/// lends its shape if the signature says so. Sizes and split are not set.
KernelSpace factorsOf(const dist::Signature &signature);

/// Sets the sizes of the space from the tensors of the op; false if a factor is
/// in none of them.
bool setSizes(mlir::Operation *op, KernelSpace &space);

/// Returns the space of an op that reads every operand at its own place;
/// nullopt if its operands are not whole, one value per row, one per column or
/// a scalar.
std::optional<KernelSpace> spaceOf(mlir::Operation *op,
                                   const dist::Signature &signature);
/// Returns the space of an op that states its signature.
std::optional<KernelSpace> spaceOfSignature(mlir::Operation *op);

/// Returns the space of an op that kernels can hold; nullopt for any other op.
std::optional<KernelSpace> kernelSpace(mlir::Operation *op);

} // namespace tessera

#endif // TESSERA_LOWER_KERNELS_KERNELSPACE_H
