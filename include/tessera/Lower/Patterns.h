//===- Patterns.h - the lowering of ops, by family --------------*- C++ -*-===//
// An op is lowered where its family is, in lib/Lower/Ops. A pattern matches
// before it changes anything, and refuses with notifyMatchFailure. Each set of
// patterns visits an op once, and none that patterns create.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LOWER_PATTERNS_H
#define TESSERA_LOWER_PATTERNS_H

#include "mlir/IR/DialectInterface.h"
#include "mlir/IR/PatternMatch.h"

namespace tessera {

/// Says how the ops of another dialect are lowered. The passes ask every
/// dialect that is loaded.
class LoweringDialectInterface
    : public mlir::DialectInterface::Base<LoweringDialectInterface> {
public:
  LoweringDialectInterface(mlir::Dialect *dialect) : Base(dialect) {}

  /// Adds what `rt-decompose` applies: ops become ops that kernels compute.
  virtual void populateDecomposePatterns(mlir::RewritePatternSet &) const {}
  /// Adds what `rt-lower-library` applies: ops become calls. An op that its
  /// patterns refuse and that no kernel can compute is an error, which says the
  /// reason.
  virtual void populateLibraryPatterns(mlir::RewritePatternSet &) const {}
};

/// Patterns of `rt-decompose`. The statistics that norms share live as long as
/// the patterns, so each run of the pass needs a set of its own.
void populateNormPatterns(mlir::RewritePatternSet &patterns);
void populateSumPatterns(mlir::RewritePatternSet &patterns);

/// Patterns of `rt-lower-experts`, which visits ops backward.
void populateExpertPatterns(mlir::RewritePatternSet &patterns);

/// Patterns of `rt-lower-library` that make calls.
void populateAttentionPatterns(mlir::RewritePatternSet &patterns);
void populateCachePatterns(mlir::RewritePatternSet &patterns);
void populateProductPatterns(mlir::RewritePatternSet &patterns);
void populateSamplingPatterns(mlir::RewritePatternSet &patterns);
/// Patterns on sums beside products that are calls. Sums that they refuse stay.
void populateProductFoldPatterns(mlir::RewritePatternSet &patterns);
/// Patterns on slices and stacks beside ops that are calls.
void populateStructurePatterns(mlir::RewritePatternSet &patterns);

} // namespace tessera

#endif // TESSERA_LOWER_PATTERNS_H
