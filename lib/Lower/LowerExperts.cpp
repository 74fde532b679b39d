//===- LowerExperts.cpp - mixtures of experts become calls ----------------===//

#include "lib/Lower/PatternWalk.h"
#include "tessera/Lower/Passes.h"
#include "tessera/Lower/Patterns.h"

namespace tessera {
#define GEN_PASS_DEF_LOWEREXPERTSPASS
#include "tessera/Lower/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

struct LowerExpertsPass
    : tessera::impl::LowerExpertsPassBase<LowerExpertsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateExpertPatterns(patterns);
    if (!applyPatternsOnce(getOperation(), std::move(patterns),
                           VisitOrder::Backward))
      markAllAnalysesPreserved();
  }
};

} // namespace
