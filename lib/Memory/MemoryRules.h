//===- MemoryRules.h - what the memory passes agree on ----------*- C++ -*-===//

#ifndef TESSERA_LIB_MEMORY_MEMORYRULES_H
#define TESSERA_LIB_MEMORY_MEMORYRULES_H

#include "lib/Memory/Buffers.h"
#include "mlir/IR/BuiltinOps.h"

namespace tessera::rt {

/// The arguments that the results of the program update, by name and role; null
/// for results that update none.
llvm::SmallVector<mlir::BlockArgument>
updatedArguments(mlir::func::FuncOp func);

/// Returns the programs of groups (nn::groupPrograms) that run on the ranks of
/// a stage.
llvm::SmallVector<mlir::func::FuncOp>
programsOfStage(llvm::ArrayRef<llvm::SmallVector<mlir::func::FuncOp>> groups,
                size_t stage);

/// Returns whether a kernel may write a result over an argument (both numbered
/// as in the function): what rt-annotate-sharing found.
bool mayShare(mlir::func::FuncOp kernel, unsigned argument, unsigned result);

/// Returns whether the op reads an operand with padded rows (`#rt.row_stride`)
/// where its type says that they begin.
bool knowsPadding(mlir::OpOperand &operand);

/// Emits the error that a conflict is where it cannot be resolved.
void reportConflict(const Conflict &conflict);

} // namespace tessera::rt

#endif // TESSERA_LIB_MEMORY_MEMORYRULES_H
