//===- Padding.h - what the padding of uneven shards holds ------*- C++ -*-===//
// An axis of n ranks cuts a dimension of size d into chunks of ceil(d / n); the
// last ones end in padding, or are padding only. The type of a value says what
// the padding of each such dimension holds, every op says what it makes of
// padding, and `dist.mask` alone sets it (docs/TheOneRule.md).
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_DIST_PADDING_H
#define TESSERA_DIALECT_DIST_PADDING_H

#include "mlir/IR/BuiltinTypes.h"
#include "tessera/Dialect/Dist/State.h"
#include "llvm/ADT/Hashing.h"
#include <optional>

namespace mlir {
class Operation;
} // namespace mlir

namespace tessera::dist {

class ConvertOp;
class MaskOp;
class MeshAttr;
struct Signature;

/// Returns whether what holds of padding `small` holds of `large`: Z < F < X, N
/// < X.
bool isWithin(Padding small, Padding large);

//===----------------------------------------------------------------------===//
// The padding of results
//===----------------------------------------------------------------------===//
// Formulas of what an op computes at one index that is padding of one factor.

using Paddings = llvm::ArrayRef<Padding>;

/// Returns the padding of a choice between them.
Padding joinOf(Paddings choices);
/// Returns a product: 0 times finite is 0; 0 times anything else is not.
Padding productOf(Paddings factors);
/// Returns a sum with coefficients, all 1 if there are none.
Padding sumOf(Paddings terms, llvm::ArrayRef<double> coefficients = {});
/// Returns a function that is finite where its operands are, but not 0 at 0.
Padding finiteOf(Paddings operands);
/// Returns the value where the gate is not 0, else 0.
Padding selectOf(Padding gate, Padding value);
/// Returns a function of one element, by the letters that it makes of Z, N and
/// F.
Padding throughOf(llvm::StringRef table, Padding padding);

//===----------------------------------------------------------------------===//
// Padding in types
//===----------------------------------------------------------------------===//

/// The padding of a dimension.
struct DimPadding {
  int64_t dim = 0;
  Padding padding = Padding::Any;
  bool operator==(const DimPadding &other) const {
    return dim == other.dim && padding == other.padding;
  }
};

inline llvm::hash_code hash_value(const DimPadding &p) {
  return llvm::hash_combine(p.dim, static_cast<unsigned>(p.padding));
}

using DimPaddings = llvm::SmallVector<DimPadding, 2>;

/// Returns whether some rank holds padding of a dimension.
bool isPadded(mlir::RankedTensorType type, int64_t dim, MeshAttr mesh);
/// Returns the dimensions of which some rank holds padding.
llvm::SmallVector<int64_t> paddedDims(mlir::RankedTensorType type,
                                      MeshAttr mesh);
/// Returns what a list says of the padding of a dimension; X if it says
/// nothing.
Padding paddingIn(llvm::ArrayRef<DimPadding> paddings, int64_t dim);
/// Returns what a type says of it.
Padding paddingOf(mlir::Type type, int64_t dim);
/// Returns the paddings that a type states.
llvm::ArrayRef<DimPadding> paddingsOf(mlir::Type type);
/// Returns the type with these paddings instead of its own.
mlir::RankedTensorType withPaddings(mlir::RankedTensorType type,
                                    llvm::ArrayRef<DimPadding> paddings);
/// Returns whether a value of type `small` may be given where `large` is
/// stated: equal but for paddings, each of which is within the other's.
bool isWithin(mlir::Type small, mlir::Type large);

/// Returns whether types state paddings in the op's module (`dist.masked`).
bool isMasked(mlir::Operation *op);

/// The paddings of results, given those of operands: a list for each operand,
/// by dimension. `why` says what is refused, where nullopt is returned.
using OperandPaddings = llvm::ArrayRef<llvm::ArrayRef<DimPadding>>;
std::optional<DimPaddings> inferPaddings(mlir::Operation *op, unsigned result,
                                         OperandPaddings operands,
                                         MeshAttr mesh, std::string &why);
DimPaddings convertedPaddings(ConvertOp op, llvm::ArrayRef<DimPadding> input,
                              MeshAttr mesh);
/// Returns the paddings after a mask of one dimension.
DimPaddings maskedPaddings(llvm::ArrayRef<DimPadding> input, int64_t dim,
                           Padding fill);

} // namespace tessera::dist

#endif // TESSERA_DIALECT_DIST_PADDING_H
