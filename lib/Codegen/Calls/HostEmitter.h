//===- HostEmitter.h - code of an artifact's programs -----------*- C++ -*-===//
// tsr_program_step and, if there is an evaluation, tsr_program_evaluation. Each
// runs the program's lists of calls in order, with a counted loop around those
// of a loop's body. Tasks are functions, which run in the order of a table of
// runs. Of several stages' programs, a rank runs that of its stage.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_CODEGEN_CALLS_HOSTEMITTER_H
#define TESSERA_LIB_CODEGEN_CALLS_HOSTEMITTER_H

#include "lib/Codegen/Calls/CallList.h"
#include "tessera/Dialect/RT/TaskOrder.h"
#include "tessera/Dialect/RT/TaskRuns.h"

namespace tessera {

class HostEmitter {
public:
  /// `programs` as rt::findPrograms gives them.
  HostEmitter(mlir::ModuleOp module,
              llvm::ArrayRef<mlir::func::FuncOp> programs);

  /// Replaces the programs by their host code.
  mlir::LogicalResult emit();

private:
  /// The function that runs these: those of all stages, or the one of all
  /// ranks.
  mlir::LogicalResult emitFunction(StatusFunction &function,
                                   llvm::ArrayRef<mlir::func::FuncOp> stages);
  mlir::LogicalResult emitStage(mlir::func::FuncOp step);
  mlir::LogicalResult emitProgram(StatusFunction &function,
                                  mlir::func::FuncOp step);
  /// With what is computed where it runs.
  using Ops = llvm::iterator_range<mlir::Block::iterator>;
  mlir::LogicalResult emitOps(Ops ops, Scalars scalars);
  mlir::LogicalResult emitLoop(rt::LoopOp loop, const Scalars &scalars);
  /// Runs `body`, which emits one iteration for a counter, `count` times.
  mlir::LogicalResult
  emitCounted(mlir::Value count,
              llvm::function_ref<mlir::LogicalResult(mlir::Value)> body);
  mlir::LogicalResult emitTasks(mlir::func::FuncOp step,
                                const rt::TaskOrder &order);
  FrameTable emitFrames(mlir::func::FuncOp step);
  mlir::FailureOr<mlir::LLVM::LLVMFuncOp> emitTask(const rt::TaskOrder &order,
                                                   int64_t part,
                                                   llvm::StringRef stage,
                                                   const FrameTable &frames);
  mlir::LogicalResult emitRuns(llvm::ArrayRef<rt::TaskRun> runs,
                               llvm::StringRef stage,
                               mlir::LLVM::GlobalOp tasks);
  void emitEntry(mlir::Value part, mlir::Value next,
                 mlir::LLVM::GlobalOp tasks);

  llvm::SmallVector<mlir::func::FuncOp> programs;
  dist::MeshAttr mesh;
  mlir::SymbolTable symbols; ///< The kernels.
  StatusFunction step;       ///< After the stages and the lists.
  StatusFunction *main;      ///< The function that is being emitted.
  StatusFunction
      *program; ///< The one that runs lists: main, or that of a stage.
  CallTables tables;
  int64_t nextOp = 0; ///< Index in "ops" of the metadata.
};

} // namespace tessera

#endif // TESSERA_LIB_CODEGEN_CALLS_HOSTEMITTER_H
