//===- FreezeParameters.cpp - which parameters are not trained ------------===//

#include "lib/Model/NamedParameters.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Dialect/NN/Trained.h"
#include "tessera/Model/Passes.h"

namespace tessera {
#define GEN_PASS_DEF_FREEZEPARAMETERSPASS
#include "tessera/Model/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

struct FreezeParametersPass
    : tessera::impl::FreezeParametersPassBase<FreezeParametersPass> {
  using FreezeParametersPassBase::FreezeParametersPassBase;

  void runOnOperation() override {
    if (failed(freeze()))
      signalPassFailure();
  }

  LogicalResult freeze() {
    FailureOr<func::FuncOp> func = nn::findProgram(getOperation(), "loss");
    if (failed(func))
      return failure();
    auto named = namedParameters(*func, "--freeze", patterns);
    if (failed(named))
      return failure();
    for (unsigned k : *named)
      func->setArgAttr(k, nn::kFrozenAttr, UnitAttr::get(&getContext()));
    return checkSomeTrained(*func);
  }

  static LogicalResult checkSomeTrained(func::FuncOp func) {
    unsigned trained = 0, parameters = 0;
    for (unsigned k = 0; k < func.getNumArguments(); ++k) {
      trained += nn::isTrained(func, k);
      parameters += !!func.getArgAttr(k, nn::NNDialect::kParamAttr);
    }
    if (trained == 0)
      return func.emitError() << "all " << parameters
                              << " parameters are frozen, so that there is "
                                 "nothing to train; leave some out of "
                                 "--freeze";
    return success();
  }
};

} // namespace
