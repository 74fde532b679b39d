//===- StageBuilder.h - the program of one pipeline stage -------*- C++ -*-===//
// Copies what a stage runs out of the typed step of all stages: one micro-batch
// of its tasks and messages, and the order of those of all micro-batches.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_PARTITION_STAGEBUILDER_H
#define TESSERA_LIB_PARTITION_STAGEBUILDER_H

#include "mlir/IR/IRMapping.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Partition/Passes.h"
#include "tessera/Schedule/PipelineSchedule.h"
#include <map>

namespace tessera {

/// A conversion A(s) -> A(t) in the micro-batch loop.
struct Transfer {
  dist::ConvertOp op;
  pipeline::Task producer; ///< Without micro-batch: what makes the value.
  int64_t number;          ///< Tells transfers apart.
};

/// A task, or a transfer of one micro-batch.
struct StepEvent {
  double time = 0; ///< A task's begin, a transfer's earliest time.
  bool isTask = false;
  pipeline::Task task; ///< For a transfer, only the micro-batch counts.
  const Transfer *transfer = nullptr; ///< Null: a task.
};

/// The typed step, taken apart.
struct StagedStep {
  mlir::func::FuncOp step;
  nn::MicroBatchesOp loop;
  pipeline::PipelineSchedule schedule;
  using Part = std::pair<pipeline::TaskKind, int64_t>; ///< And chunk.
  std::map<Part, llvm::SmallVector<mlir::Operation *>> parts;
  std::vector<Transfer> transfers;
  /// In an order that all ranks can follow: what an event needs is before it.
  std::vector<StepEvent> events;
  /// Those of each stage: its tasks, and what it sends or receives.
  std::vector<std::vector<const StepEvent *>> eventsOfStage;
};

inline constexpr llvm::StringLiteral kActivationMessage =
    "activation for a later stage";
/// Why a tied parameter's shard, and its gradient, are sent.
inline constexpr llvm::StringLiteral kParameterMessage =
    "parameter of another stage";
inline constexpr llvm::StringLiteral kGradientMessage =
    "gradient of a parameter of another stage";

/// Return a type, and the results of an op, in a stage's program.
mlir::RankedTensorType stageless(mlir::Type type);
void forgetStages(mlir::Operation *op);

class StageBuilder {
public:
  StageBuilder(StagedStep &staged, int64_t stage);

  /// Adds the function after the step's.
  mlir::LogicalResult build();

private:
  void createFunction();
  bool isHere(mlir::Type type) const;

  mlir::LogicalResult emitOutside(mlir::Operation *op);
  mlir::LogicalResult emitConversion(dist::ConvertOp op);
  struct Message {
    rt::SendOp send;
    rt::ReceiveOp receive;
    llvm::SmallVector<mlir::Operation *, 2> ends();
  };
  Message emitMessage(dist::ConvertOp op,
                      llvm::function_ref<mlir::Value()> input,
                      llvm::StringRef reason);
  mlir::Value reduce(dist::ConvertOp op);
  void emitPartial(mlir::Operation *op);
  bool emitSum(nn::AddOp op);
  bool sumsMicroBatches(nn::AddOp op) const;
  void emitReturn(mlir::func::ReturnOp ret);

  void emitTotals(nn::MicroBatchesOp loop);
  void emitLoop();
  nn::MicroBatchesOp startLoop(llvm::ArrayRef<unsigned> totals);
  void endLoop(nn::MicroBatchesOp loop, llvm::ArrayRef<unsigned> totals);
  void emitEvents();
  void emitTask(const StepEvent &event);
  void emitTransfer(const StepEvent &event);

  mlir::Operation *clone(mlir::Operation *op);
  mlir::Operation *cloneInside(mlir::Operation *op);
  mlir::Value outside(mlir::Value value);
  mlir::Value inside(mlir::Value value);
  void removeUnusedData();

  StagedStep &staged;
  int64_t stage;
  mlir::func::FuncOp func;
  mlir::OpBuilder builder;
  mlir::IRMapping outer;
  mlir::IRMapping body;              ///< Maps values of a micro-batch.
  llvm::DenseSet<mlir::Value> zeros; ///< Partial values, 0 at this stage.
};

} // namespace tessera

#endif // TESSERA_LIB_PARTITION_STAGEBUILDER_H
