//===- Decompose.cpp - ops become ops that kernels compute ----------------===//

#include "lib/Lower/PatternWalk.h"
#include "tessera/Lower/Passes.h"
#include "tessera/Lower/Patterns.h"

namespace tessera {
#define GEN_PASS_DEF_DECOMPOSEPASS
#include "tessera/Lower/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

struct DecomposePass : tessera::impl::DecomposePassBase<DecomposePass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateNormPatterns(patterns);
    populateSumPatterns(patterns);
    for (const LoweringDialectInterface &dialect :
         DialectInterfaceCollection<LoweringDialectInterface>(&getContext()))
      dialect.populateDecomposePatterns(patterns);
    applyPatternsOnce(getOperation(), std::move(patterns));
  }
};

} // namespace
