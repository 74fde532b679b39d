//===- ReadProgram.cpp - what is simulated, from an artifact's metadata ---===//

#include "tools/tessera/simulate/ReadProgram.h"
#include "tessera/Json/ParseJson.h"
#include "tools/tessera/report/JsonList.h"
#include "tools/tessera/report/LayerModes.h"
#include "tools/tessera/report/PrintError.h"
#include "llvm/ADT/StringSwitch.h"
#include <algorithm>

using namespace llvm;
using namespace tessera;
using simulate::Call;
using simulate::CallKind;
using simulate::ProductForm;
using simulate::Program;

namespace {

/// One entry of "ops".
class CallReader {
public:
  CallReader(const json::Object &op, const Program &program,
             const LayerModes &modes)
      : op(op), program(program), modes(modes) {}

  std::optional<Call> read() {
    Call call;
    call.op = text("op");
    call.name = text("name");
    call.isForward = text("phase") == "forward";
    call.recomputes = text("phase") == "recompute";
    call.layer = modes.layerOf(call.name).value_or(-1);
    call.recomputesLayer = modes.modeOf(call.name) == Recompute::Full;
    call.isUpdate = text("phase") == "optimizer";
    call.isRouting = call.op == "routed";
    call.times = number("times", 1);
    call.flops = static_cast<double>(number("flops", 0));
    call.bytes = static_cast<double>(number("bytes", 0));
    call.resultBytes = static_cast<double>(number("result_bytes", 0));
    call.elements = static_cast<double>(number("elements", 0));
    call.functions = static_cast<double>(number("functions", 0));
    call.form = StringSwitch<ProductForm>(text("transposed"))
                    .Case("a", ProductForm::TransposedA)
                    .Case("b", ProductForm::TransposedB)
                    .Default(ProductForm::Plain);
    call.experts = number("experts", 0);
    call.wait = number("wait", 0);
    call.peer = number("peer", 0);
    call.collective = collectiveOf(call.op);
    if (call.times < 1 || call.wait < 0 || !readShape(call) || !readAxes(call))
      return std::nullopt;
    call.kind = kindOf(call);
    // The gradients of logits are made where the head reads them.
    call.isLoss = call.kind == CallKind::Kernel &&
                  (call.name == "loss" || call.name == "head");
    call.scoresAgain = call.kind == CallKind::AttentionGradient &&
                       modes.modeOf(call.name) == Recompute::Selective;
    // As one that an older compiler wrote, without the shape of its products or
    // the elements that it moves.
    if ((call.kind == CallKind::Kernel && call.flops > 0) ||
        (!call.axes.empty() && call.bytes > 0 && call.elements <= 0))
      return std::nullopt;
    return call;
  }

private:
  std::string text(StringRef key) const {
    return op.getString(key).value_or("").str();
  }
  int64_t number(StringRef key, int64_t otherwise) const {
    return op.getInteger(key).value_or(otherwise);
  }

  static dist::Collective collectiveOf(StringRef name) {
    using dist::Collective;
    return StringSwitch<Collective>(name)
        .Case("all_reduce", Collective::AllReduce)
        .Cases({"all_gather", "all_gather_coalesced"}, Collective::AllGather)
        .Cases({"reduce_scatter", "reduce_scatter_coalesced"},
               Collective::ReduceScatter)
        .Cases({"all_to_all", "exchange_rows"}, Collective::AllToAll)
        .Case("broadcast", Collective::Broadcast)
        .Case("shift", Collective::Shift)
        .Case("zigzag", Collective::Zigzag)
        .Default(Collective::None);
  }

  static CallKind kindOf(const Call &call) {
    if (call.op == "send")
      return CallKind::Send;
    if (call.op == "receive")
      return CallKind::Receive;
    if (call.op == "wait")
      return CallKind::Wait;
    if (!call.axes.empty())
      return CallKind::Collective;
    if (call.shape[0] == 0)
      return CallKind::Kernel;
    StringRef name = call.op;
    if (!name.contains("attention"))
      return CallKind::Product;
    return name.ends_with("_grad") ? CallKind::AttentionGradient
                                   : CallKind::Attention;
  }

  bool readShape(Call &call) const {
    const json::Array *shape = op.getArray("shape");
    if (!shape)
      return true;
    if (shape->size() != call.shape.size())
      return false;
    for (auto [from, to] : zip(*shape, call.shape))
      to = from.getAsInteger().value_or(0);
    return llvm::all_of(call.shape, [](int64_t size) { return size >= 0; });
  }

  bool readAxes(Call &call) const {
    const json::Array *axes = op.getArray("axes");
    if (!axes)
      return true;
    for (const json::Value &name : *axes) {
      auto found = llvm::find_if(program.mesh, [&](const auto &axis) {
        return axis.name == name.getAsString().value_or("");
      });
      if (found == program.mesh.end())
        return false;
      call.axes.push_back(found - program.mesh.begin());
    }
    return call.peer >= 0 &&
           (axes->size() != 1 || call.peer < program.mesh[call.axes[0]].size);
  }

  const json::Object &op;
  const Program &program;
  const LayerModes &modes;
};

} // namespace

static void readMesh(Program &program, const json::Object &root) {
  if (const json::Array *axes = root.getArray("mesh"))
    for (const json::Value &value : *axes) {
      const json::Object *axis = value.getAsObject();
      program.mesh.push_back(
          {axis->getString("axis").value_or("").str(),
           std::max<int64_t>(axis->getInteger("size").value_or(1), 1)});
    }
  const json::Object *pipeline = root.getObject("pipeline");
  std::optional<StringRef> along =
      pipeline ? pipeline->getString("axis") : std::nullopt;
  for (size_t axis = 0; along && axis < program.mesh.size(); ++axis)
    if (program.mesh[axis].name == *along)
      program.stageAxis = static_cast<int64_t>(axis);
  program.stages.resize(
      program.stageAxis < 0 ? 1 : program.mesh[program.stageAxis].size);
}

static void readOptions(Program &program, const Report &report) {
  program.precision =
      fromName<Precision>(report.precision).value_or(Precision::F32);
  program.isCuda = report.device == nameOf(DeviceKind::Cuda);
  if (!report.causalWork.empty())
    program.causalImbalance =
        *std::max_element(report.causalWork.begin(), report.causalWork.end()) *
        static_cast<double>(report.causalWork.size());
  program.tokens = report.batch * (report.sequence + report.target);
  program.modelFlops = report.modelFlops();
  program.bytesPerRank = report.arenaBytes;
}

static void readTasks(Program &program, const Report &report) {
  if (!report.pipeline)
    return;
  for (auto [stage, tasks] : zip(program.stages, report.pipeline->tasks)) {
    for (const ProgramTasks::Task &task : tasks.tasks) {
      stage.tasks.push_back({task.calls.begin, task.calls.end});
      stage.taskNames.push_back(task.name);
    }
    for (ProgramTasks::Entry entry : tasks.order)
      stage.order.push_back({entry.task, entry.microBatch});
  }
}

/// Whether calls are there and wait for each other as the engine needs it.
static bool isWhole(const Program &program) {
  for (const simulate::StageProgram &stage : program.stages) {
    auto calls = static_cast<int64_t>(stage.calls.size());
    for (const simulate::CallRange &task : stage.tasks)
      if (task.end > calls)
        return false;
    for (const Call &call : stage.calls)
      if (call.wait >= calls ||
          (call.wait && stage.calls[call.wait].kind != CallKind::Wait))
        return false;
  }
  return true;
}

/// Counts what the loss is computed from and what its kernels move.
static void addLoss(simulate::StageProgram &stage, const Call &call,
                    const json::Object &op) {
  auto times = static_cast<double>(call.times);
  if (call.isLoss)
    stage.lossBytes += times * call.bytes;
  if (call.kind == CallKind::Product && call.name == "head" &&
      op.getString("phase") == "forward")
    stage.logits += times * static_cast<double>(call.shape[0] * call.shape[1]);
}

static bool readCalls(Program &program, const LayerModes &modes,
                      ArrayRef<StringRef> entries) {
  for (StringRef entry : entries) {
    Expected<json::Value> value = parseJson(entry, json_kinds::metadata);
    if (!value)
      return !printError("the artifact's metadata is malformed: " +
                         toString(value.takeError()));
    const json::Object *op = value->getAsObject();
    int64_t stage = op ? op->getInteger("stage").value_or(0) : -1;
    std::optional<Call> call =
        op ? CallReader(*op, program, modes).read() : std::nullopt;
    if (!call || stage < 0 ||
        stage >= static_cast<int64_t>(program.stages.size()))
      return !printError("the artifact's metadata has a call that cannot be "
                         "simulated: " +
                         entry.str() + "; compile the model again");
    addLoss(program.stages[stage], *call, *op);
    if (call->layer >= 0 && call->isForward &&
        call->collective == dist::Collective::ReduceScatter)
      for (size_t axis : call->axes)
        program.streamAxes.insert(program.mesh[axis].name);
    program.stages[stage].calls.push_back(std::move(*call));
  }
  return true;
}

std::optional<Program> tessera::readProgram(StringRef metadata,
                                            const Report &report) {
  Program program;
  JsonList ops = takeList(metadata, "ops");
  Expected<json::Value> root = parseJson(ops.rest, json_kinds::metadata);
  if (!root) {
    printError("the artifact's metadata is malformed: " +
               toString(root.takeError()));
    return std::nullopt;
  }
  // Beside a training step the program of every request is an own one.
  bool trains = !report.encoding &&
                (!report.generation || root->getAsObject()->get("decode"));
  if (!trains) {
    printError("tessera simulate predicts a training step, but the artifact "
               "has programs for inference alone; compile the model with "
               "--programs train");
    return std::nullopt;
  }
  readMesh(program, *root->getAsObject());
  readOptions(program, report);
  const json::Object *pipeline = root->getAsObject()->getObject("pipeline");
  if (pipeline && pipeline->get("tasks") && !report.pipeline) {
    printError("the artifact's metadata has a schedule of stages that cannot "
               "be simulated; compile the model with another --schedule");
    return std::nullopt;
  }
  readTasks(program, report);
  if (!report.layerModes) {
    printError("the artifact's metadata does not say which layers recompute; "
               "compile the model again");
    return std::nullopt;
  }
  if (!readCalls(program, *report.layerModes, ops.entries))
    return std::nullopt;
  if (isWhole(program))
    return program;
  printError("the artifact's metadata is malformed: calls are missing");
  return std::nullopt;
}
