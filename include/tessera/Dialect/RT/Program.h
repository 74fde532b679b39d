//===- Program.h - the lowered program of a module ------------------------===//

#ifndef TESSERA_DIALECT_RT_PROGRAM_H
#define TESSERA_DIALECT_RT_PROGRAM_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace tessera::rt {

/// The programs of nn::findSteps: one block each, tensors of static shape in rt
/// ops only. Emits an error where a module has none.
mlir::FailureOr<llvm::SmallVector<mlir::func::FuncOp>>
findSteps(mlir::ModuleOp module);

} // namespace tessera::rt

#endif // TESSERA_DIALECT_RT_PROGRAM_H
