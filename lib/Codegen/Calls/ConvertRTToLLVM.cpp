//===- ConvertRTToLLVM.cpp - the lowered program as host code -------------===//

#include "lib/Codegen/Calls/HostEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "tessera/Codegen/Calls/Passes.h"
#include "tessera/Codegen/Calls/RuntimeCall.h"
#include "tessera/Dialect/RT/RTProgram.h"

namespace tessera {
#define GEN_PASS_DEF_CONVERTRTTOLLVMPASS
#include "tessera/Codegen/Calls/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

/// Every op has host code, every tensor an offset, every axis an index.
LogicalResult checkOp(Operation *op, dist::MeshAttr mesh) {
  for (Value result : op->getResults())
    if (isa<RankedTensorType>(result.getType()) && !rt::offsetOf(result))
      return op->emitError() << "has no offset; run rt-plan-memory first";
  auto coord = dyn_cast<rt::CoordOp>(op);
  if (coord && (!mesh || mesh.getIndex(coord.getAxis()) < 0))
    return op->emitError() << "names axis '" << coord.getAxis()
                           << "', which the mesh does not have";
  if (isa<func::ReturnOp, EntryCallOpInterface>(op) ||
      isa_and_nonnull<rt::RTDialect, arith::ArithDialect>(op->getDialect()))
    return success();
  return op->emitError() << "has no host code";
}

LogicalResult checkProgram(func::FuncOp step) {
  for (BlockArgument argument : step.getArguments())
    if (!isa<RankedTensorType>(argument.getType()) || !rt::offsetOf(argument))
      return step.emitError()
             << "argument #" << argument.getArgNumber()
             << " is no tensor with an offset; run rt-plan-memory first";
  dist::MeshAttr mesh = dist::meshOf(step);
  return failure(step.getBody()
                     .walk([&](Operation *op) {
                       return failed(checkOp(op, mesh))
                                  ? WalkResult::interrupt()
                                  : WalkResult::advance();
                     })
                     .wasInterrupted());
}

struct ConvertRTToLLVMPass
    : tessera::impl::ConvertRTToLLVMPassBase<ConvertRTToLLVMPass> {
  using ConvertRTToLLVMPassBase::ConvertRTToLLVMPassBase;

  void runOnOperation() override {
    FailureOr<SmallVector<func::FuncOp>> programs =
        rt::findPrograms(getOperation());
    if (failed(programs))
      return signalPassFailure();
    for (func::FuncOp program : *programs)
      if (failed(checkProgram(program)))
        return signalPassFailure();
    if (failed(HostEmitter(getOperation(), *programs).emit()))
      signalPassFailure();
  }
};

} // namespace
