//===- Replace.h - an op takes the place of another -------------*- C++ -*-===//

#ifndef TESSERA_LIB_LOWER_OPS_REPLACE_H
#define TESSERA_LIB_LOWER_OPS_REPLACE_H

#include "mlir/IR/PatternMatch.h"
#include "tessera/Dialect/RT/ResultMarks.h"

namespace tessera {

/// Replaces `op` by `made`, which has the same results and inherits the marks.
inline mlir::LogicalResult replaceMarked(mlir::RewriterBase &rewriter,
                                         mlir::Operation *op,
                                         mlir::Operation *made) {
  inheritMarks(made, op);
  rewriter.replaceOp(op, made);
  return mlir::success();
}

} // namespace tessera

#endif // TESSERA_LIB_LOWER_OPS_REPLACE_H
