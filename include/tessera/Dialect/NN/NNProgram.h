//===- NNProgram.h - the nn program of a module -----------------*- C++ -*-===//

#ifndef TESSERA_DIALECT_NN_NNPROGRAM_H
#define TESSERA_DIALECT_NN_NNPROGRAM_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace tessera::nn {

/// The function of that name: one block, ranked tensors as arguments and
/// results. Emits an error where a module has none.
mlir::FailureOr<mlir::func::FuncOp> findProgram(mlir::ModuleOp module,
                                                llvm::StringRef name);
/// The training step: `@step`, or a function per pipeline stage, those with
/// `rt.stage`, in order of stages. Emits an error where a module has none.
mlir::FailureOr<llvm::SmallVector<mlir::func::FuncOp>>
findSteps(mlir::ModuleOp module);
/// Emits an error unless a function is such a program.
mlir::LogicalResult checkProgram(mlir::func::FuncOp func);

} // namespace tessera::nn

#endif // TESSERA_DIALECT_NN_NNPROGRAM_H
