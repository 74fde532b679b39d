//===- Step.h - the lowered program of a module ---------------------------===//

#ifndef TESSERA_DIALECT_RT_STEP_H
#define TESSERA_DIALECT_RT_STEP_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace tessera::rt {

/// The lowered program of a module: `@step`, one block, static shapes. Emits
/// an error otherwise.
mlir::FailureOr<mlir::func::FuncOp> findStep(mlir::ModuleOp module);

/// The argument that a result of the program updates, by name and role; null if
/// it updates none.
mlir::BlockArgument updatedArgument(mlir::func::FuncOp func, unsigned result);

} // namespace tessera::rt

#endif // TESSERA_DIALECT_RT_STEP_H
