//===- ChooseDecay.cpp - which parameters do not decay --------------------===//

#include "lib/Model/NamedParameters.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Model/Passes.h"

namespace tessera {
#define GEN_PASS_DEF_CHOOSEDECAYPASS
#include "tessera/Model/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

struct ChooseDecayPass : tessera::impl::ChooseDecayPassBase<ChooseDecayPass> {
  using ChooseDecayPassBase::ChooseDecayPassBase;

  void runOnOperation() override {
    if (failed(choose()))
      signalPassFailure();
  }

  LogicalResult choose() {
    FailureOr<func::FuncOp> func = nn::findProgram(getOperation(), "loss");
    if (failed(func))
      return failure();
    auto named = namedParameters(*func, "--no-decay", except);
    if (failed(named))
      return failure();
    for (unsigned k : *named)
      func->removeArgAttr(k, nn::NNDialect::kDecayAttr);
    return success();
  }
};

} // namespace
