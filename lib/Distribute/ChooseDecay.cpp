//===- ChooseDecay.cpp - which parameters do not decay --------------------===//

#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Distribute/Passes.h"
#include "tessera/Options/NamePattern.h"

namespace tessera {
#define GEN_PASS_DEF_CHOOSEDECAYPASS
#include "tessera/Distribute/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

struct ChooseDecayPass : tessera::impl::ChooseDecayPassBase<ChooseDecayPass> {
  using ChooseDecayPassBase::ChooseDecayPassBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> func = nn::findProgram(getOperation(), "loss");
    if (failed(func))
      return signalPassFailure();
    NamePatterns patterns(except.begin(), except.end());
    std::vector<std::string> names;
    for (unsigned k = 0; k < func->getNumArguments(); ++k) {
      auto name =
          func->getArgAttrOfType<StringAttr>(k, nn::NNDialect::kParamAttr);
      if (!name)
        continue;
      names.push_back(name.str());
      if (matchesAny(patterns, names.back()))
        func->removeArgAttr(k, nn::NNDialect::kDecayAttr);
    }
    std::string why = checkPatternsMatch("--no-decay", patterns, names);
    if (why.empty())
      return;
    func->emitError() << why;
    signalPassFailure();
  }
};

} // namespace
