//===- RowLayout.h - how a part lies inside a tensor ------------*- C++ -*-===//
// A view or a part of a concatenation is a number of equal rows at equal
// distances. The layout follows from the two shapes and the offsets of the
// part's siblings.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_RT_ROWLAYOUT_H
#define TESSERA_DIALECT_RT_ROWLAYOUT_H

#include "tessera/Dialect/RT/RT.h"

namespace tessera::rt {

/// Rows of equal length at equal distances. All numbers count elements.
struct RowLayout {
  int64_t rows = 1;
  int64_t rowElements = 0;
  int64_t stride = 0;

  bool isContiguous() const { return rows == 1 || rowElements == stride; }
  /// The number of elements from the first to the last, both included.
  int64_t span() const { return (rows - 1) * stride + rowElements; }
};

/// Layout of a part that lacks one dimension of `whole`, or is shorter in one;
/// contiguous if it is neither. `offsets` are those of all parts of its shape.
RowLayout partLayout(mlir::RankedTensorType whole, mlir::RankedTensorType part,
                     llvm::ArrayRef<int64_t> offsets);

/// Layout of a part of a concatenation, inside the concatenation's result.
RowLayout layoutIn(ConcatOp concat, unsigned part);

/// Returns the layout of a value in memory: not contiguous for some views and
/// for results with gaps. Padding that the type states counts as elements.
RowLayout layoutOf(mlir::Value value);

/// Returns whether a type says `#rt.row_stride`.
bool hasPaddedRows(mlir::Type type);

/// Elements from one row, along the last dimension, to the next: the size of
/// the row unless rows are padded.
int64_t rowStrideOf(mlir::RankedTensorType type);

/// Returns the elements that a tensor takes in memory, padding of rows
/// included.
int64_t storedElementsOf(mlir::RankedTensorType type);

/// Returns the type with rows that begin every `stride` elements.
mlir::RankedTensorType withRowStride(mlir::RankedTensorType type,
                                     int64_t stride);

} // namespace tessera::rt

#endif // TESSERA_DIALECT_RT_ROWLAYOUT_H
