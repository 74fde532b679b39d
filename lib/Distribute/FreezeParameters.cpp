//===- FreezeParameters.cpp - which parameters are not trained ------------===//

#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Dialect/NN/Trained.h"
#include "tessera/Distribute/Passes.h"
#include "tessera/Options/NamePattern.h"

namespace tessera {
#define GEN_PASS_DEF_FREEZEPARAMETERSPASS
#include "tessera/Distribute/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

struct FreezeParametersPass
    : tessera::impl::FreezeParametersPassBase<FreezeParametersPass> {
  using FreezeParametersPassBase::FreezeParametersPassBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> found = nn::findProgram(getOperation(), "loss");
    if (failed(found))
      return signalPassFailure();
    NamePatterns given;
    for (const std::string &text : patterns)
      given.emplace_back(text);
    std::vector<std::string> names;
    unsigned trained = 0;
    for (unsigned k = 0; k < found->getNumArguments(); ++k) {
      auto name =
          found->getArgAttrOfType<StringAttr>(k, nn::NNDialect::kParamAttr);
      if (!name)
        continue;
      names.push_back(name.str());
      if (matchesAny(given, names.back()))
        found->setArgAttr(k, nn::kFrozenAttr, UnitAttr::get(&getContext()));
      trained += nn::isTrained(*found, k);
    }
    if (failed(check(*found, given, names, trained)))
      signalPassFailure();
  }

  LogicalResult check(func::FuncOp func, const NamePatterns &given,
                      const std::vector<std::string> &names, unsigned trained);
};

LogicalResult FreezeParametersPass::check(func::FuncOp func,
                                          const NamePatterns &given,
                                          const std::vector<std::string> &names,
                                          unsigned trained) {
  if (std::string why = checkPatternsMatch("--freeze", given, names);
      !why.empty())
    return func.emitError() << why;
  if (trained == 0)
    return func.emitError() << "all " << names.size()
                            << " parameters are frozen, so that there is "
                               "nothing to train; leave some out of --freeze";
  return success();
}

} // namespace
