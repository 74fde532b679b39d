//===- HostEmitter.h - code of tsr_program_step -----------------*- C++ -*-===//
// Runs the program's lists of calls in order, with a counted loop around those
// of a loop's body. Of several stages' programs, a rank runs that of its stage.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_CODEGEN_CALLS_HOSTEMITTER_H
#define TESSERA_LIB_CODEGEN_CALLS_HOSTEMITTER_H

#include "lib/Codegen/Calls/CallList.h"

namespace tessera {

class HostEmitter {
public:
  /// `steps` as rt::findSteps gives them.
  HostEmitter(mlir::ModuleOp module, llvm::ArrayRef<mlir::func::FuncOp> steps);

  /// Replaces the programs by their host code.
  mlir::LogicalResult emit();

private:
  mlir::LogicalResult emitStage(mlir::func::FuncOp step);
  mlir::LogicalResult emitProgram(StatusFunction &function,
                                  mlir::func::FuncOp step);
  /// With what is computed where it runs.
  mlir::LogicalResult emitBlock(mlir::Block &block, Scalars scalars);
  mlir::LogicalResult emitLoop(rt::LoopOp loop, const Scalars &scalars);

  llvm::SmallVector<mlir::func::FuncOp> steps;
  dist::MeshAttr mesh;
  mlir::SymbolTable symbols; ///< Of the kernels.
  StatusFunction main;       ///< After the stages and the lists.
  StatusFunction *program;   ///< What runs lists: main, or that of a stage.
  CallTables tables;
  int64_t nextOp = 0; ///< Index in "ops" of the metadata.
};

} // namespace tessera

#endif // TESSERA_LIB_CODEGEN_CALLS_HOSTEMITTER_H
