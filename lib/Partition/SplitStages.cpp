//===- SplitStages.cpp - one program per pipeline stage -------------------===//

#include "lib/Partition/StageBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "tessera/Dialect/Dist/Chunks.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Options/MeshAxis.h"
#include "tessera/Program/ProgramJson.h"
#include "tessera/Schedule/Simulation.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera {
#define GEN_PASS_DEF_SPLITSTAGESPASS
#include "tessera/Partition/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;
using namespace tessera::dist;
using namespace tessera::pipeline;

namespace {

struct SplitStagesPass : tessera::impl::SplitStagesPassBase<SplitStagesPass> {
  using SplitStagesPassBase::SplitStagesPassBase;

  void runOnOperation() override {
    FailureOr<SmallVector<func::FuncOp>> programs =
        nn::findWithOthers(getOperation(), "step");
    if (failed(programs))
      return signalPassFailure();
    for (func::FuncOp program : *programs)
      if (failed(split(program)))
        return signalPassFailure();
  }

  LogicalResult split(func::FuncOp program);
  LogicalResult splitRows();
  LogicalResult buildStages();
  LogicalResult chooseSchedule();
  LogicalResult collectParts();
  LogicalResult collect(Operation *op);
  void splitBackward();
  LogicalResult collectTransfers();
  LogicalResult orderEvents();
  SmallVector<Operation *> sourceOpsOf(int64_t chunk);
  std::string describe();

  StagedStep staged;
  DenseMap<Operation *, Task> taskOf; ///< Without micro-batch.
  Simulation simulation;
  Shape simulated = {0, 0, 0}; ///< The shape that it is of.
};

/// An evaluation runs the forward tasks of the step's schedule, in its order.
LogicalResult SplitStagesPass::split(func::FuncOp program) {
  staged = {};
  taskOf.clear();
  staged.step = program;
  if (nn::isGeneration(program))
    return splitRows();
  if (failed(chooseSchedule()) || failed(collectParts()))
    return failure();
  if (staged.schedule.splitsBackward())
    splitBackward();
  if (failed(collectTransfers()) || failed(orderEvents()))
    return failure();
  return buildStages();
}

/// Rows of requests are one micro-batch that goes through the stages in program
/// order: no rank can wait for what another one sends later.
LogicalResult SplitStagesPass::splitRows() {
  MeshAttr mesh = meshOf(staged.step);
  if (!mesh)
    return staged.step.emitError() << "has no mesh to cut it into stages";
  int64_t chunks = 1, stages = mesh.getSize(kPipelineAxis);
  for (Operation &op : staged.step.getBody().front())
    if (std::optional<int64_t> chunk = chunkOf(&op)) {
      chunks = std::max(chunks, *chunk + 1);
      staged.parts[{TaskKind::Forward, *chunk}].push_back(&op);
    }
  Shape shape{stages, llvm::divideCeilSigned(chunks, stages), 1};
  staged.schedule = makeSchedule(ScheduleKind::GPipe, shape);
  simulation = {};
  simulated = {0, 0, 0};
  simulation.bubble = 1 - 1.0 / static_cast<double>(stages);
  return buildStages();
}

LogicalResult SplitStagesPass::buildStages() {
  for (int64_t stage = 0; stage < staged.schedule.shape.stages; ++stage)
    if (failed(StageBuilder(staged, stage).build()))
      return failure();
  if (!nn::isBeside(staged.step))
    getOperation()->setAttr(rt::RTDialect::kPipelineAttr,
                            StringAttr::get(&getContext(), describe()));
  staged.step.erase();
  return success();
}

State stageState(Value value) {
  return stateOf(value.getType(), kPipelineAxis);
}

bool isTransfer(Operation *op) {
  auto convert = dyn_cast<ConvertOp>(op);
  return convert && convert.getAxis() == kPipelineAxis &&
         convert.getFrom().kind == State::A;
}

/// Refuses totals that are not all at one stage, or all at every stage.
LogicalResult checkTotals(nn::MicroBatchesOp loop) {
  for (Value total : loop.getResults())
    if (State first = stageState(loop.getResult(0)), own = stageState(total);
        own != first)
      return loop.emitOpError()
             << "adds up totals at " << first.str() << " and " << own.str()
             << " on 'pp'; all must be at one stage";
  return success();
}

LogicalResult SplitStagesPass::chooseSchedule() {
  func::FuncOp step = staged.step;
  MeshAttr mesh = meshOf(step);
  auto loops = step.getOps<nn::MicroBatchesOp>();
  if (!mesh || loops.empty())
    return step.emitError() << "has no mesh or no micro-batches to cut into "
                               "stages";
  for (nn::MicroBatchesOp loop : loops)
    staged.loop = loop; // the last: those before it only add up data
  for (nn::MicroBatchesOp loop : loops)
    if (loop != staged.loop && failed(checkTotals(loop)))
      return failure();
  std::optional<ScheduleKind> kind = fromName<ScheduleKind>(schedule);
  if (!kind)
    return step.emitError()
           << "schedule '" << schedule.getValue()
           << "' is unknown; use gpipe, 1f1b, interleaved or zero-bubble";
  int64_t stages = mesh.getSize(kPipelineAxis), chunks = 0;
  for (Operation &op : staged.loop.getBody().front())
    chunks = std::max(chunks, chunkOf(&op).value_or(-1) + 1);
  Shape shape{stages,
              llvm::divideCeilSigned(std::max<int64_t>(chunks, 1), stages),
              static_cast<int64_t>(staged.loop.getCount())};
  if (std::string why = checkShape(*kind, shape); !why.empty())
    return step.emitError() << why;
  staged.schedule = makeSchedule(*kind, shape);
  if (!(simulated == shape)) // an evaluation has the shape of the step
    simulation = simulate(staged.schedule, Times::equal(shape));
  simulated = shape;
  if (!simulation.error.empty())
    return step.emitError() << "schedule '" << schedule.getValue()
                            << "' is wrong: " << simulation.error;
  return success();
}

/// Finds the part that an op belongs to. Conversions to a stage, data and
/// constants belong to none.
LogicalResult SplitStagesPass::collect(Operation *op) {
  State state = stageState(op->getResult(0));
  if (state.kind == State::I || state.kind == State::R)
    return success();
  if (state.kind != State::A)
    return op->emitOpError() << "is " << state.str()
                             << " on 'pp' inside of a micro-batch; what stages "
                                "share must be outside";
  auto convert = dyn_cast<ConvertOp>(op);
  if (convert && convert.getAxis() == kPipelineAxis)
    return success();
  std::optional<int64_t> chunk = chunkOf(op);
  if (!chunk || *chunk % staged.schedule.shape.stages != state.where)
    return op->emitOpError()
           << "is at " << state.str() << " and "
           << (chunk ? "in chunk " + std::to_string(*chunk) : "in no chunk")
           << "; chunk c lives at stage c mod " << staged.schedule.shape.stages;
  bool isForward = nn::isForward(op);
  Task task{isForward ? TaskKind::Forward : TaskKind::Backward, *chunk, 0};
  taskOf[op] = task;
  staged.parts[{task.kind, task.chunk}].push_back(op);
  return success();
}

LogicalResult SplitStagesPass::collectParts() {
  for (Operation &op : staged.loop.getBody().front().without_terminator())
    if (failed(collect(&op)))
      return failure();
  return success();
}

/// Gradients of parameters: what only yields read, or sums and conversions of
/// such gradients, in the same chunk.
void SplitStagesPass::splitBackward() {
  DenseSet<Operation *> weights;
  auto isSum = [&](Operation *op) { // reads gradients only
    return llvm::all_of(op->getOperands(), [&](Value v) {
      auto it = taskOf.find(v.getDefiningOp());
      return it != taskOf.end() && it->second.kind == TaskKind::Backward;
    });
  };
  for (auto &[part, ops] : staged.parts) {
    if (part.first != TaskKind::Backward)
      continue;
    for (Operation *op : llvm::reverse(ops)) {
      bool only = llvm::all_of(op->getUsers(), [&](Operation *user) {
        return isa<nn::YieldOp>(user) ||
               (weights.contains(user) && isSum(user) &&
                taskOf.lookup(user).chunk == part.second);
      });
      if (only)
        weights.insert(op);
    }
  }
  decltype(staged.parts) parts;
  for (auto &[part, ops] : staged.parts)
    for (Operation *op : ops) {
      if (weights.contains(op))
        taskOf[op].kind = TaskKind::Weights;
      parts[{taskOf[op].kind, part.second}].push_back(op);
    }
  staged.parts = std::move(parts);
}

/// Collects transfers. A gradient that several stages only pass on has the task
/// that made it.
LogicalResult SplitStagesPass::collectTransfers() {
  DenseMap<Operation *, Task> producers;
  for (Operation &op : staged.loop.getBody().front().without_terminator()) {
    if (!isTransfer(&op))
      continue;
    Operation *maker = op.getOperand(0).getDefiningOp();
    auto task = taskOf.find(maker), passed = producers.find(maker);
    if (task == taskOf.end() && passed == producers.end())
      return op.emitOpError() << "passes on what no task of its stage makes";
    Task producer = task != taskOf.end() ? task->second : passed->second;
    producers[&op] = producer;
    int64_t number = staged.transfers.size();
    staged.transfers.push_back({cast<ConvertOp>(op), producer, number});
  }
  return success();
}

/// Tasks at their begin, transfers as soon as their value is there: before the
/// task that needs it and after the one that makes it, at both ranks.
LogicalResult SplitStagesPass::orderEvents() {
  for (const auto &[task, time] : simulation.tasks)
    staged.events.push_back({time.begin, true, task, nullptr});
  for (const Transfer &transfer : staged.transfers)
    for (int64_t j = 0; j < staged.schedule.shape.microBatches; ++j) {
      Task producer = transfer.producer;
      producer.microBatch = j;
      staged.events.push_back(
          {simulation.tasks.at(producer).end, false, producer, &transfer});
    }
  llvm::stable_sort(staged.events, [](const auto &a, const auto &b) {
    return std::make_pair(a.time, a.isTask) < std::make_pair(b.time, b.isTask);
  });
  const Shape &shape = staged.schedule.shape;
  staged.eventsOfStage.resize(shape.stages);
  for (const StepEvent &event : staged.events) {
    if (event.isTask) {
      if (staged.parts.count({event.task.kind, event.task.chunk}))
        staged.eventsOfStage[shape.stageOf(event.task.chunk)].push_back(&event);
      continue;
    }
    ConvertOp op = event.transfer->op;
    for (int64_t stage : {op.getFrom().where, op.getTo().where})
      staged.eventsOfStage[stage].push_back(&event);
  }
  return success();
}

/// Returns the ops that prepare the source of requests, for programs that have
/// one.
SmallVector<Operation *> SplitStagesPass::sourceOpsOf(int64_t chunk) {
  SmallVector<Operation *> ops;
  auto encode = getOperation().lookupSymbol<func::FuncOp>(nn::kEncodeName);
  if (encode && !encode.isDeclaration() && encode != staged.step)
    for (Operation &op : encode.getBody().front())
      if (chunkOf(&op) == chunk)
        ops.push_back(&op);
  return ops;
}

/// Returns the schedule as docs/Artifact.md describes it.
std::string SplitStagesPass::describe() {
  const Shape &shape = staged.schedule.shape;
  program::Pipeline pipeline;
  pipeline.axis = kPipelineAxis;
  pipeline.schedule = nameOf(staged.schedule.kind);
  pipeline.stages = shape.stages;
  pipeline.virtualStages = shape.virtualStages;
  pipeline.microBatches = shape.microBatches;
  pipeline.bubble = simulation.bubble;
  for (int64_t number = 0; number < shape.chunks(); ++number) {
    program::Chunk &chunk = pipeline.chunks.emplace_back();
    chunk.stage = shape.stageOf(number);
    auto note = [&](Operation *op) {
      std::string part = nn::partOf(op->getLoc()).str();
      chunk.first = chunk.first.empty() ? part : chunk.first;
      chunk.last = part.empty() ? chunk.last : part;
    };
    for (Operation *op : sourceOpsOf(number))
      note(op);
    for (Operation *op : staged.parts[{TaskKind::Forward, number}]) {
      note(op);
      if (auto cost = dyn_cast<nn::CostOpInterface>(op))
        chunk.forwardFlops += cost.getFlops();
    }
  }
  return llvm::formatv("{0}", program::toJson(pipeline));
}

} // namespace
