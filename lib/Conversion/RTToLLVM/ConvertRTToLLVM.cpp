//===- ConvertRTToLLVM.cpp - the lowered program as host code -------------===//

#include "HostEmitter.h"
#include "tessera/Conversion/RTToLLVM/Passes.h"
#include "tessera/Transforms/MemoryRules.h"

namespace tessera {
#define GEN_PASS_DEF_CONVERTRTTOLLVMPASS
#include "tessera/Conversion/RTToLLVM/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

LogicalResult checkOffsets(func::FuncOp step) {
  WalkResult walk = step.getBody().walk([](Operation *op) {
    for (Value result : op->getResults())
      if (isa<RankedTensorType>(result.getType()) && !rt::offsetOf(result)) {
        op->emitError() << "has no offset; run rt-plan-memory first";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  for (BlockArgument argument : step.getArguments())
    if (!rt::offsetOf(argument))
      return step.emitError() << "argument #" << argument.getArgNumber()
                              << " has no offset; run rt-plan-memory first";
  return failure(walk.wasInterrupted());
}

struct ConvertRTToLLVMPass
    : tessera::impl::ConvertRTToLLVMPassBase<ConvertRTToLLVMPass> {
  using ConvertRTToLLVMPassBase::ConvertRTToLLVMPassBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> step = rt::findStep(getOperation());
    if (failed(step) || failed(checkOffsets(*step)) ||
        failed(HostEmitter(getOperation(), *step).emit()))
      signalPassFailure();
  }
};

} // namespace
