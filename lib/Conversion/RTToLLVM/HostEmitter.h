//===- HostEmitter.h - code of tsr_program_step ---------------------------===//
// Calls the parts of the program in order, with a counted loop around those of
// a loop's body. Of several stages' programs, a rank runs that of its stage.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_CONVERSION_RTTOLLVM_HOSTEMITTER_H
#define TESSERA_LIB_CONVERSION_RTTOLLVM_HOSTEMITTER_H

#include "PartEmitter.h"

namespace tessera {

class HostEmitter {
public:
  /// `steps` as rt::findSteps gives them.
  HostEmitter(mlir::ModuleOp module, llvm::ArrayRef<mlir::func::FuncOp> steps);

  /// Replaces the programs by their host code.
  mlir::LogicalResult emit();

private:
  mlir::LogicalResult emitStage(mlir::func::FuncOp step);
  mlir::LogicalResult emitBlock(mlir::Block &block);
  mlir::LogicalResult emitPart(llvm::ArrayRef<rt::RuntimeCallOpInterface> ops);
  mlir::LogicalResult emitLoop(rt::LoopOp loop);

  llvm::SmallVector<mlir::func::FuncOp> steps;
  dist::MeshAttr mesh;
  mlir::SymbolTable symbols; ///< Of the kernels.
  StatusFunction main;       ///< Behind its parts and their tables.
  StatusFunction *program;   ///< What calls parts: main, or that of a stage.
  ConstantTables tables;
  llvm::SmallVector<mlir::Value> counters; ///< Of the loops being emitted.
  int64_t nextOp = 0;                      ///< Index in "ops" of the metadata.
  int64_t nextPart = 0;
};

} // namespace tessera

#endif // TESSERA_LIB_CONVERSION_RTTOLLVM_HOSTEMITTER_H
