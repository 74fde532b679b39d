//===- Program.cpp - the nn program of a module ---------------------------===//

#include "tessera/Dialect/NN/Program.h"

using namespace mlir;
using namespace tessera;

LogicalResult tessera::nn::checkProgram(func::FuncOp func) {
  if (!func.getBody().hasOneBlock())
    return func.emitError()
           << "@" << func.getName() << " must have a body of one block";
  auto check = [&](TypeRange types, StringRef what) -> LogicalResult {
    for (auto [k, type] : llvm::enumerate(types))
      if (!isa<RankedTensorType>(type))
        return func.emitError()
               << what << " #" << k << " of @" << func.getName() << " has type "
               << type << "; it must be a ranked tensor";
    return success();
  };
  if (failed(check(func.getArgumentTypes(), "argument")))
    return failure();
  return check(func.getResultTypes(), "result");
}

FailureOr<func::FuncOp> tessera::nn::findProgram(ModuleOp module,
                                                 StringRef name) {
  auto func = module.lookupSymbol<func::FuncOp>(name);
  if (!func)
    return module.emitError() << "has no function @" << name;
  if (failed(checkProgram(func)))
    return failure();
  return func;
}
