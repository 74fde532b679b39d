//===- StepProgram.cpp - the calls of a step, for simulation --------------===//

#include "tessera/Simulate/StepProgram.h"
#include "tessera/Program/ProgramJson.h"
#include "llvm/ADT/STLExtras.h"

using namespace tessera;
using namespace tessera::simulate;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;

static Error refuseOlder() {
  return createStringError("the artifact's metadata does not say which layers "
                           "recompute; compile the model again");
}

static void copyOptions(Program &step, const program::Program &program) {
  step.mesh = program.mesh;
  step.precision =
      fromName<Precision>(program.precision).value_or(Precision::F32);
  step.isCuda = program.target.device == nameOf(DeviceKind::Cuda);
  const std::vector<double> &work = program.totals.causalWork;
  if (!work.empty())
    step.causalImbalance =
        *llvm::max_element(work) * static_cast<double>(work.size());
  step.tokens = program.model.batch *
                (program.model.sequence + program.model.target.value_or(0));
  step.bytesPerRank = program.arena.bytes;
}

static Error addStages(Program &step, const program::Program &program) {
  step.stages.resize(program.stages());
  if (!program.pipeline)
    return Error::success();
  auto axis = llvm::find_if(step.mesh, [&](const Axis &each) {
    return each.name == program.pipeline->axis;
  });
  if (axis != step.mesh.end())
    step.stageAxis = axis - step.mesh.begin();
  if (!program.pipeline->tasks)
    return Error::success();
  auto tasks = program.pipeline->stageTasks(); // readProgram has checked them
  for (auto [stage, own] : llvm::zip(step.stages, *tasks))
    static_cast<program::StageTasks &>(stage) = std::move(own);
  return Error::success();
}

/// Counts what the loss is computed from and what its kernels move.
static void addLoss(StageProgram &stage, const Call &call) {
  auto times = static_cast<double>(call.times);
  if (call.role == CallRole::Loss)
    stage.lossBytes += times * static_cast<double>(call.bytes);
  if (call.role == CallRole::Logits)
    stage.logits += times * static_cast<double>(call.shape[0] * call.shape[1]);
}

/// An older compiler wrote calls without the shape of their products, or the
/// elements that they move.
static bool saysTooLittle(const Call &call) {
  return (call.kind == CallKind::Kernel && call.flops > 0) ||
         (!call.axes.empty() && call.bytes > 0 && call.elements <= 0);
}

static Error addCall(Program &step, Call &call) {
  if (saysTooLittle(call))
    return createStringError("it has a call that cannot be simulated: " +
                             call.op + (call.name.empty() ? "" : " ") +
                             call.name + "; compile the model again");
  StageProgram &stage = step.stages[call.stage.value_or(0)];
  addLoss(stage, call);
  if (call.layerInProgram >= 0 && call.isForward() &&
      call.collective == Collective::ReduceScatter)
    step.streamAxes.insert(call.axes.begin(), call.axes.end());
  if (!call.recomputes())
    step.modelFlops += static_cast<double>(call.flops) *
                       static_cast<double>(call.times) *
                       static_cast<double>(step.ranks()) /
                       static_cast<double>(step.stages.size());
  if (call.kind == CallKind::Send || call.kind == CallKind::Receive)
    call.peer = call.peer.value_or(0);
  call.kernel.clear(); // most of the memory, and not simulated
  call.reason.clear();
  stage.calls.push_back(std::move(call));
  return Error::success();
}

/// Returns whether calls are there and wait for each other as the engine needs
/// it.
static bool isWhole(const StageProgram &stage) {
  auto calls = static_cast<int64_t>(stage.calls.size());
  return llvm::all_of(
             stage.tasks,
             [&](const program::Task &task) { return task.end <= calls; }) &&
         llvm::all_of(stage.calls, [&](const Call &call) {
           return call.wait < calls &&
                  (!call.wait || stage.calls[call.wait].kind == CallKind::Wait);
         });
}

Expected<Program> simulate::readStep(llvm::StringRef metadata,
                                     const program::Program &program) {
  if (!program.trains())
    return createStringError(
        "tessera simulate predicts a training step, but the artifact has "
        "programs for inference alone; compile the model with --programs "
        "train");
  Program step;
  copyOptions(step, program);
  if (Error error = addStages(step, program))
    return error;
  if (!program.layers)
    return refuseOlder();
  if (Error error = program::readCalls(
          metadata, program, [&](Call &call) { return addCall(step, call); }))
    return createStringError("the artifact's metadata is malformed: " +
                             toString(std::move(error)));
  if (!llvm::all_of(step.stages, isWhole))
    return createStringError(
        "the artifact's metadata is malformed: calls are missing");
  return step;
}
