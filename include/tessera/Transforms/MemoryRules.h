//===- MemoryRules.h - what the memory passes agree on --------------------===//

#ifndef TESSERA_TRANSFORMS_MEMORYRULES_H
#define TESSERA_TRANSFORMS_MEMORYRULES_H

#include "mlir/IR/BuiltinOps.h"
#include "tessera/Transforms/Buffers.h"

namespace tessera::rt {

/// The lowered program of a module: `@step`, one block, static shapes. Emits
/// an error otherwise.
mlir::FailureOr<mlir::func::FuncOp> findStep(mlir::ModuleOp module);

/// The argument that a result of the program updates, by name and role; null if
/// it updates none.
mlir::BlockArgument updatedArgument(mlir::func::FuncOp func, unsigned result);

/// What the code generator says of its kernels.
ShareRule kernelShareRule();

/// Emits the error that a conflict is where it cannot be resolved.
void reportConflict(const Conflict &conflict);

} // namespace tessera::rt

#endif // TESSERA_TRANSFORMS_MEMORYRULES_H
