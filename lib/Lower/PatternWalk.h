//===- PatternWalk.h - rewrite patterns, once for each op -------*- C++ -*-===//
// Programs are long, and no pattern of a set makes work for another one. So a
// walk replaces the worklist and the fixpoint of MLIR's greedy driver.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_LOWER_PATTERNWALK_H
#define TESSERA_LIB_LOWER_PATTERNWALK_H

#include "mlir/IR/Operation.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"

namespace tessera {

enum class VisitOrder { Forward, Backward };

/// Applies the patterns to each op below `root` once, forward in program order,
/// nested ops first. Ops that patterns create are not visited; ops that
/// patterns refuse stay. Returns whether a pattern changed anything.
bool applyPatternsOnce(mlir::Operation *root,
                       const mlir::FrozenRewritePatternSet &patterns,
                       VisitOrder order = VisitOrder::Forward);

/// Does the same, forward, with patterns that make calls. An op that is refused
/// and that no kernel can compute is an error with the first reason of its
/// patterns.
mlir::LogicalResult
lowerPatternsOnce(mlir::Operation *root,
                  const mlir::FrozenRewritePatternSet &patterns);

} // namespace tessera

#endif // TESSERA_LIB_LOWER_PATTERNWALK_H
