//===- CheckMessages.cpp - no rank waits for ever -------------------------===//
// The check is of the programs that are emitted, not of the schedule that they
// come from. An asynchronous call counts where it starts, as if the program
// waited there. If all ranks end this way, they also end when they wait later:
// take the calls in the order in which they ended here; all ranks of the first
// one that is left have come to it, as they wait for earlier calls only.
//===----------------------------------------------------------------------===//

#include "tessera/Communicate/Passes.h"
#include "tessera/Dialect/Dist/Chunks.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Dialect/RT/RTProgram.h"
#include "tessera/Dialect/RT/TaskOrder.h"
#include "tessera/Schedule/Deadlock.h"
#include "llvm/ADT/SetVector.h"

namespace tessera {
#define GEN_PASS_DEF_CHECKMESSAGESPASS
#include "tessera/Communicate/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;
using pipeline::Event;

namespace {

struct CheckMessagesPass
    : tessera::impl::CheckMessagesPassBase<CheckMessagesPass> {
  void runOnOperation() override {
    FailureOr<SmallVector<func::FuncOp>> programs =
        rt::findPrograms(getOperation());
    if (failed(programs))
      return signalPassFailure();
    mesh = dist::meshOf(getOperation());
    if (!mesh)
      return;
    std::optional<int64_t> ofFirst;
    for (auto &group : nn::groupPrograms(*programs)) {
      FailureOr<int64_t> count = check(group);
      if (failed(count))
        return signalPassFailure();
      ofFirst = ofFirst.value_or(*count);
    }
    getOperation()->setAttr(
        rt::RTDialect::kMessagesAttr,
        Builder(&getContext()).getI64IntegerAttr(ofFirst.value_or(0)));
  }

  /// Checks the programs of all ranks, which run at the same time. Returns the
  /// number of their messages, or an error if a rank would wait forever.
  FailureOr<int64_t> check(SmallVector<func::FuncOp> together);
  void chooseAxes();
  LogicalResult checkLoops();
  LogicalResult checkStages();
  int64_t ranks() const;
  SmallVector<int64_t> coordinates(int64_t rank) const;
  int64_t rankAt(ArrayRef<int64_t> coordinates) const;
  std::vector<Event> eventsOf(int64_t rank);
  LogicalResult findTasks();
  void visit(Block &block, int64_t rank, std::vector<Event> &events);
  void visit(rt::LoopOp loop, int64_t rank, std::vector<Event> &events);
  void visit(Operation &op, int64_t rank, std::vector<Event> &events);
  void visit(const rt::TaskOrder &tasks, int64_t rank,
             std::vector<Event> &events);
  void addMessage(Operation *op, int64_t rank, std::vector<Event> &events);
  void addCollective(Operation *op, ArrayAttr over, int64_t rank,
                     std::vector<Event> &events);

  SmallVector<func::FuncOp> steps;
  /// The tasks of each step.
  SmallVector<std::optional<rt::TaskOrder>> tasksOf;
  dist::MeshAttr mesh;
  llvm::SetVector<StringRef> axes; ///< Whose ranks are told apart.
};

FailureOr<int64_t>
CheckMessagesPass::check(SmallVector<func::FuncOp> together) {
  steps = std::move(together);
  chooseAxes();
  if (failed(checkLoops()) || failed(checkStages()) || failed(findTasks()))
    return failure();
  std::vector<std::vector<Event>> events;
  for (int64_t rank = 0; rank < ranks(); ++rank)
    events.push_back(eventsOf(rank));
  std::string why = pipeline::findDeadlock(events);
  if (!why.empty())
    return steps.front().emitError() << "ranks wait for each other: " << why;
  int64_t count = 0;
  for (const std::vector<Event> &each : events)
    count += each.size();
  return count;
}

/// Returns "rt.send of h.1.mlp".
std::string nameOf(Operation *op) {
  std::string name = op->getName().getStringRef().str();
  StringRef part = nn::partOf(op->getLoc());
  return part.empty() ? name : name + " of " + part.str();
}

std::string bytesText(Operation *op) {
  Value moved = isa<rt::SendOp>(op) ? op->getOperand(0) : op->getResult(0);
  return std::to_string(rt::bytesOf(moved)) + " bytes";
}

/// Returns the lane of an op: a call of the program does not pair up with one
/// that runs beside it.
const char *laneOf(Operation *op) {
  return cast<rt::AsyncOpInterface>(op).getAsync() ? " beside the program" : "";
}

void CheckMessagesPass::chooseAxes() {
  axes.clear();
  if (steps.front()->hasAttr(rt::RTDialect::kStageAttr))
    axes.insert(rt::stageAxisOf(steps.front()));
  for (func::FuncOp step : steps)
    step.walk([&](Operation *op) {
      if (auto send = dyn_cast<rt::SendOp>(op))
        axes.insert(send.getAxis());
      if (auto receive = dyn_cast<rt::ReceiveOp>(op))
        axes.insert(receive.getAxis());
    });
}

/// The largest number of rounds that a list of events can hold; no step
/// communicates so often.
constexpr uint64_t kMostRounds = uint64_t(1) << 24;

LogicalResult CheckMessagesPass::checkLoops() {
  for (func::FuncOp step : steps) {
    WalkResult result = step.walk([](rt::LoopOp loop) {
      bool communicates = loop.getBody()
                              .walk([](rt::AsyncOpInterface) {
                                return WalkResult::interrupt();
                              })
                              .wasInterrupted();
      if (!communicates || loop.getCount() <= kMostRounds)
        return WalkResult::advance();
      loop.emitOpError() << "communicates in each of " << loop.getCount()
                         << " rounds; there may be at most " << kMostRounds;
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return failure();
  }
  return success();
}

/// Checks that every coordinate on the axis of stages has a program.
LogicalResult CheckMessagesPass::checkStages() {
  func::FuncOp first = steps.front();
  if (!first->hasAttr(rt::RTDialect::kStageAttr))
    return success();
  StringRef axis = rt::stageAxisOf(first);
  auto programs = static_cast<int64_t>(steps.size());
  if (mesh.getIndex(axis) >= 0 && mesh.getSize(axis) == programs)
    return success();
  return first.emitError() << "is one of " << programs
                           << " programs of stages, but mesh axis '" << axis
                           << "' has " << mesh.getSize(axis) << " ranks";
}

int64_t CheckMessagesPass::ranks() const {
  int64_t count = 1;
  for (StringRef axis : axes)
    count *= mesh.getSize(axis);
  return count;
}

SmallVector<int64_t> CheckMessagesPass::coordinates(int64_t rank) const {
  SmallVector<int64_t> at(axes.size());
  for (size_t k = axes.size(); k-- > 0; rank /= mesh.getSize(axes[k]))
    at[k] = rank % mesh.getSize(axes[k]);
  return at;
}

int64_t CheckMessagesPass::rankAt(ArrayRef<int64_t> at) const {
  int64_t rank = 0;
  for (size_t k = 0; k < axes.size(); ++k)
    rank = rank * mesh.getSize(axes[k]) + at[k];
  return rank;
}

LogicalResult CheckMessagesPass::findTasks() {
  tasksOf.clear();
  for (func::FuncOp step : steps) {
    FailureOr<std::optional<rt::TaskOrder>> tasks = rt::TaskOrder::of(step);
    if (failed(tasks))
      return failure();
    tasksOf.push_back(std::move(*tasks));
  }
  return success();
}

std::vector<Event> CheckMessagesPass::eventsOf(int64_t rank) {
  std::vector<Event> events;
  bool hasStages = steps.front()->hasAttr(rt::RTDialect::kStageAttr);
  int64_t number = hasStages ? coordinates(rank)[0] : 0;
  Block &body = steps[number].getBody().front();
  const std::optional<rt::TaskOrder> &tasks = tasksOf[number];
  if (!tasks) {
    visit(body, rank, events);
    return events;
  }
  // Ops outside of tasks are visited where they stand, and all tasks together
  // where the last one ends.
  Operation *end = &*tasks->parts().back().end();
  for (Operation &op : body) {
    if (&op == end)
      visit(*tasks, rank, events);
    if (&op != tasks->getLoop() && tasks->partOf(&op) < 0)
      visit(op, rank, events);
  }
  return events;
}

void CheckMessagesPass::visit(Block &block, int64_t rank,
                              std::vector<Event> &events) {
  for (Operation &op : block)
    visit(op, rank, events);
}

/// All rounds are alike; a loop without events may have any number of them.
void CheckMessagesPass::visit(rt::LoopOp loop, int64_t rank,
                              std::vector<Event> &events) {
  std::vector<Event> round;
  visit(loop.getBody().front(), rank, round);
  if (round.empty())
    return;
  for (uint64_t k = 0; k < loop.getCount(); ++k)
    events.insert(events.end(), round.begin(), round.end());
}

void CheckMessagesPass::visit(Operation &op, int64_t rank,
                              std::vector<Event> &events) {
  if (auto loop = dyn_cast<rt::LoopOp>(op))
    visit(loop, rank, events);
  else if (isa<rt::SendOp, rt::ReceiveOp>(op))
    addMessage(&op, rank, events);
  else if (auto collective = dyn_cast<rt::CollectiveOpInterface>(op))
    addCollective(&op, collective.getAxes(), rank, events);
}

/// The events of a task are the same for each micro-batch but for its number.
void CheckMessagesPass::visit(const rt::TaskOrder &tasks, int64_t rank,
                              std::vector<Event> &events) {
  SmallVector<std::vector<Event>> ofParts;
  for (const rt::TaskOrder::Part &part : tasks.parts()) {
    ofParts.emplace_back();
    for (Operation &op : llvm::make_range(part.first(), part.end()))
      visit(op, rank, ofParts.back());
  }
  for (rt::TaskOrder::Entry entry : tasks.entries())
    for (const Event &event : ofParts[entry.part]) {
      events.push_back(event);
      events.back().microBatch = entry.microBatch;
    }
}

void CheckMessagesPass::addMessage(Operation *op, int64_t rank,
                                   std::vector<Event> &events) {
  auto axis = op->getAttrOfType<StringAttr>("axis");
  SmallVector<int64_t> peer = coordinates(rank);
  auto position = llvm::find(axes, axis.getValue()) - axes.begin();
  peer[position] = op->getAttrOfType<IntegerAttr>("peer").getInt();
  Event event;
  event.kind = isa<rt::SendOp>(op) ? Event::Send : Event::Receive;
  event.peer = rankAt(peer);
  event.what = bytesText(op);
  if (auto name = op->getAttrOfType<StringAttr>(rt::kMessageAttr))
    event.what += " (" + name.str() + ")";
  event.what += laneOf(op);
  event.name = nameOf(op);
  events.push_back(std::move(event));
}

void CheckMessagesPass::addCollective(Operation *op, ArrayAttr over,
                                      int64_t rank,
                                      std::vector<Event> &events) {
  SmallVector<int64_t> own = coordinates(rank);
  auto isOver = [&](StringRef axis) {
    return llvm::is_contained(over, StringAttr::get(&getContext(), axis));
  };
  Event event;
  for (int64_t other = 0; other < ranks(); ++other) {
    SmallVector<int64_t> at = coordinates(other);
    bool member = true;
    for (size_t k = 0; k < axes.size(); ++k)
      member &= at[k] == own[k] || isOver(axes[k]);
    if (member)
      event.group.push_back(other);
  }
  if (event.group.size() < 2)
    return;
  event.what =
      op->getName().getStringRef().str() + " of " + bytesText(op) + laneOf(op);
  event.name = nameOf(op);
  events.push_back(std::move(event));
}

} // namespace
