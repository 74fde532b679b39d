//===- Trained.h - which parameters are trained -----------------*- C++ -*-===//
// A parameter with `nn.frozen` is an argument of the step like any other, but
// it has no gradient, no moments and no update.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_NN_TRAINED_H
#define TESSERA_DIALECT_NN_TRAINED_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tessera/Dialect/NN/NN.h"

namespace tessera::nn {

constexpr llvm::StringLiteral kFrozenAttr = "nn.frozen";

inline bool isFrozen(mlir::func::FuncOp func, unsigned argument) {
  return !!func.getArgAttr(argument, kFrozenAttr);
}
/// Returns whether an argument is a parameter that is trained.
inline bool isTrained(mlir::func::FuncOp func, unsigned argument) {
  return func.getArgAttr(argument, NNDialect::kParamAttr) &&
         !isFrozen(func, argument);
}

} // namespace tessera::nn

#endif // TESSERA_DIALECT_NN_TRAINED_H
