//===- Segments.h - shapes of what attention keeps apart --------*- C++ -*-===//

#ifndef TESSERA_LIB_DIALECT_RT_SEGMENTS_H
#define TESSERA_LIB_DIALECT_RT_SEGMENTS_H

#include "mlir/IR/Operation.h"

namespace tessera::rt {

struct SegmentShape {
  int64_t batch, queries, keys;
};

/// Checks that there are segments of queries and of keys, [batch, positions],
/// or neither.
llvm::LogicalResult verifySegments(mlir::Operation *op,
                                   const SegmentShape &shape,
                                   mlir::Value ofQueries, mlir::Value ofKeys);

} // namespace tessera::rt

#endif // TESSERA_LIB_DIALECT_RT_SEGMENTS_H
