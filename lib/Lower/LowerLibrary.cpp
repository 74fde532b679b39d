//===- LowerLibrary.cpp - ops that become library calls -------------------===//

#include "lib/Lower/PatternWalk.h"
#include "mlir/IR/Threading.h"
#include "tessera/Lower/Passes.h"
#include "tessera/Lower/Patterns.h"
#include <atomic>

namespace tessera {
#define GEN_PASS_DEF_LOWERLIBRARYPASS
#include "tessera/Lower/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

/// The pass applies these sets one after the other.
struct LibraryPatterns {
  explicit LibraryPatterns(MLIRContext *context);

  FrozenRewritePatternSet calls; ///< Ops become calls.
  FrozenRewritePatternSet folds; ///< Calls take over sums, where they can.
  FrozenRewritePatternSet views; ///< Calls read and write slices in place.
};

LibraryPatterns::LibraryPatterns(MLIRContext *context) {
  RewritePatternSet ofCalls(context), ofFolds(context), ofViews(context);
  populateProductPatterns(ofCalls);
  populateAttentionPatterns(ofCalls);
  populateCachePatterns(ofCalls);
  populateSamplingPatterns(ofCalls);
  for (const LoweringDialectInterface &dialect :
       DialectInterfaceCollection<LoweringDialectInterface>(context))
    dialect.populateLibraryPatterns(ofCalls);
  populateProductFoldPatterns(ofFolds);
  populateStructurePatterns(ofViews);
  calls = std::move(ofCalls);
  folds = std::move(ofFolds);
  views = std::move(ofViews);
}

LogicalResult lowerFunction(func::FuncOp func,
                            const LibraryPatterns &patterns) {
  bool failedOp = failed(lowerPatternsOnce(func, patterns.calls));
  applyPatternsOnce(func, patterns.folds);
  failedOp |= failed(lowerPatternsOnce(func, patterns.views));
  return failure(failedOp);
}

struct LowerLibraryPass
    : tessera::impl::LowerLibraryPassBase<LowerLibraryPass> {
  void runOnOperation() override {
    LibraryPatterns patterns(&getContext());
    std::atomic<bool> failedOp = false;
    auto functions = llvm::to_vector(getOperation().getOps<func::FuncOp>());
    parallelForEach(&getContext(), functions, [&](func::FuncOp func) {
      if (failed(lowerFunction(func, patterns)))
        failedOp = true;
    });
    if (failedOp)
      signalPassFailure();
  }
};

} // namespace
