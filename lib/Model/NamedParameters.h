//===- NamedParameters.h - the parameters of an option's names --*- C++ -*-===//
// Options that concern some parameters only name them by patterns.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_MODEL_NAMEDPARAMETERS_H
#define TESSERA_LIB_MODEL_NAMEDPARAMETERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tessera {

/// The arguments of `func` that are parameters whose names match one of the
/// patterns that `flag` was given. A pattern that matches none is an error.
mlir::FailureOr<llvm::SmallVector<unsigned>>
namedParameters(mlir::func::FuncOp func, llvm::StringRef flag,
                llvm::ArrayRef<std::string> patterns);

} // namespace tessera

#endif // TESSERA_LIB_MODEL_NAMEDPARAMETERS_H
