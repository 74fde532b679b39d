//===- PlanMemory.cpp - gives every value an offset in one arena ----------===//

#include "lib/Memory/ArenaLayout.h"
#include "lib/Memory/ArenaOverStep.h"
#include "lib/Memory/ArgumentPlaces.h"
#include "lib/Memory/BufferKind.h"
#include "lib/Memory/MemoryRules.h"
#include "lib/Memory/StepMoments.h"
#include "lib/Memory/TaskTimes.h"
#include "mlir/IR/Threading.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Dialect/RT/OverStep.h"
#include "tessera/Dialect/RT/RTProgram.h"
#include "tessera/Memory/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

namespace tessera {
#define GEN_PASS_DEF_PLANMEMORYPASS
#include "tessera/Memory/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;
using namespace tessera::rt;

namespace {

/// The kinds that come and go during a step; the rest of it is workspace.
constexpr BufferKind kTransient[] = {WeightCopies, GatheredWeights, Gradients,
                                     Activations};
/// The kinds that are shown over the step.
constexpr BufferKind kShown[] = {WeightCopies, GatheredWeights, Gradients,
                                 Activations, Workspace};

class Planner {
public:
  Planner(func::FuncOp func, const Liveness &live, const Buffers &buffers,
          const TaskTimes &times, const TaskOrder *order)
      : func(func), live(live), buffers(buffers), times(times), order(order),
        offsets(buffers.all().size()) {}

  void placeArguments(const ArgumentPlaces &places);
  void placeTransients();
  void annotate();

private:
  /// Values that cross the same two tasks of a micro-batch.
  struct Frame {
    int64_t bytes = 0;
    KindBytes byKind{};
    SmallVector<unsigned> buffers;
    size_t extent = 0;  ///< The first micro-batch's.
    int64_t number = 0; ///< From 1; 0: it is the last micro-batch's only.
  };
  using Tasks = std::pair<int64_t, int64_t>;
  /// The content of a task beside frames at its fullest moment.
  struct TaskContent {
    int64_t bytes = 0;
    KindBytes byKind{};
  };
  void sortBuffers();
  void addExtent(int64_t bytes, int64_t begin, int64_t end,
                 const KindBytes &kinds);
  void layOutFrames();
  void placeTasks();
  int64_t placeTask(int64_t task, ArrayRef<unsigned> numbers);
  TaskContent contentOf(ArrayRef<unsigned> numbers) const;
  void placeFrames();
  int64_t beginOf(const Frame &frame) const;
  void setFrameOffsets();
  void countKinds(int64_t bytes);
  void describe(ArrayRef<Extent> held, int64_t peak);
  Holding holdingOf(size_t number, const Extent &extent, int64_t peak) const;
  std::string nameOf(unsigned buffer, int64_t time, std::string &op) const;

  int64_t offsetOf(Value value) const {
    Place place = buffers.placeOf(value);
    return offsets[place.buffer] + place.offset;
  }

  func::FuncOp func;
  const Liveness &live;
  const Buffers &buffers;
  const TaskTimes &times;
  const TaskOrder *order; ///< Null: no tasks.
  /// One for each buffer, in the arena or in a frame.
  SmallVector<int64_t> offsets;
  int64_t arena = 0;
  KindBytes byKind{};

  SmallVector<unsigned> once;
  llvm::MapVector<int64_t, SmallVector<unsigned>> ofTasks; ///< Keyed by task.
  llvm::MapVector<Tasks, Frame> frames;
  /// The frame in which a buffer of a task lies; null: beside all frames.
  llvm::DenseMap<unsigned, const Frame *> homes;
  SmallVector<Extent> extents;
  SmallVector<KindBytes> kinds;                  ///< One for each extent.
  size_t area = 0;                               ///< The extent beside frames.
  llvm::DenseMap<int64_t, TaskContent> contents; ///< Keyed by task.
  std::string overStep;
};

void Planner::placeArguments(const ArgumentPlaces &places) {
  for (BlockArgument argument : func.getArguments())
    offsets[buffers.placeOf(argument).buffer] = places.offsetOf(argument);
  byKind = places.bytesByKind();
  arena = places.bytes();
}

void Planner::sortBuffers() {
  for (auto [number, buffer] : llvm::enumerate(buffers.all())) {
    if (buffer.argument || buffer.members.empty())
      continue;
    BufferUse use = times.useOf(buffer);
    if (use.kind == BufferUse::OfTask) {
      ofTasks[use.first].push_back(number);
    } else if (use.kind == BufferUse::OfFrame) {
      frames[{use.first, use.last}].buffers.push_back(number);
    } else {
      once.push_back(number);
      KindBytes kinds{};
      kinds[kindOf(buffer)] = llvm::alignTo(buffer.bytes, kAlignment);
      addExtent(buffer.bytes, use.begin, use.end, kinds);
    }
  }
}

void Planner::addExtent(int64_t bytes, int64_t begin, int64_t end,
                        const KindBytes &content) {
  extents.push_back({bytes, begin, end});
  kinds.push_back(content);
}

/// The buffers of a frame lie side by side: between its tasks all are needed.
void Planner::layOutFrames() {
  int64_t count = 0;
  for (auto &[tasks, frame] : frames) {
    if (order->parts()[tasks.first].inLoop)
      frame.number = ++count;
    for (unsigned number : frame.buffers) {
      const Buffer &buffer = buffers.all()[number];
      int64_t bytes =
          llvm::alignTo(std::max<int64_t>(buffer.bytes, 1), kAlignment);
      offsets[number] = frame.bytes;
      homes[number] = &frame;
      frame.bytes += bytes;
      frame.byKind[kindOf(buffer)] += bytes;
    }
  }
}

/// Buffers of one task lie where its frames hold nothing yet, or no longer; the
/// rest lie in an area that all tasks share, as no two run at once.
void Planner::placeTasks() {
  int64_t most = 0;
  for (auto &[task, numbers] : ofTasks) {
    most = std::max(most, placeTask(task, numbers));
    contents[task] = contentOf(numbers);
  }
  area = extents.size();
  if (most > 0)
    addExtent(most, times.timeOf(0),
              times.timeOf(static_cast<int64_t>(order->entries().size()) - 1),
              {});
}

/// Returns the bytes beside frames. The frames that the task fills or empties
/// lie one after the other, and then the area.
int64_t Planner::placeTask(int64_t task, ArrayRef<unsigned> numbers) {
  int64_t start = times.positionOf(task), frameBytes = 0;
  int64_t end = times.endOf(task) - start;
  SmallVector<Extent> fixed, own;
  SmallVector<std::pair<int64_t, const Frame *>> begins;
  for (auto &[tasks, frame] : frames) {
    if (tasks.first != task && tasks.second != task)
      continue;
    begins.push_back({frameBytes, &frame});
    for (unsigned number : frame.buffers) {
      const Buffer &buffer = buffers.all()[number];
      bool fills = tasks.first == task;
      fixed.push_back({buffer.bytes, fills ? buffer.begin - start : 0,
                       fills ? end : buffer.end - start,
                       frameBytes + offsets[number]});
    }
    frameBytes += frame.bytes;
    fixed.push_back({0, 0, end, frameBytes});
  }
  for (unsigned number : numbers) {
    const Buffer &buffer = buffers.all()[number];
    own.push_back({buffer.bytes, buffer.begin - start, buffer.end - start});
  }
  int64_t bytes = assignOffsets(own, fixed);
  for (auto [number, extent] : llvm::zip(numbers, own)) {
    bool isBeside = extent.offset >= frameBytes;
    auto home = llvm::partition_point(begins, [&](const auto &begin) {
      return begin.first <= extent.offset;
    });
    homes[number] = isBeside ? nullptr : std::prev(home)->second;
    offsets[number] =
        extent.offset - (isBeside ? frameBytes : std::prev(home)->first);
  }
  return bytes - frameBytes;
}

Planner::TaskContent Planner::contentOf(ArrayRef<unsigned> numbers) const {
  SmallVector<Extent> own;
  SmallVector<BufferKind> ownKinds;
  for (unsigned number : numbers) {
    const Buffer &buffer = buffers.all()[number];
    if (homes.lookup(number)) // counted with its frame
      continue;
    own.push_back({buffer.bytes, buffer.begin, buffer.end});
    ownKinds.push_back(kindOf(buffer));
  }
  Peak peak = findPeak(own);
  TaskContent content{peak.bytes, {}};
  for (auto [extent, kind] : llvm::zip(own, ownKinds))
    if (extent.begin <= peak.position && extent.end >= peak.position)
      content.byKind[kind] += llvm::alignTo(extent.bytes, kAlignment);
  return content;
}

void Planner::placeFrames() {
  for (auto &[tasks, frame] : frames) {
    frame.extent = extents.size();
    int64_t count = frame.number ? order->microBatchesOfLoop() : 1;
    for (int64_t j = 0; j < count; ++j)
      addExtent(frame.bytes, times.timeOf(order->timeOf(tasks.first, j)),
                times.timeOf(order->timeOf(tasks.second, j)), frame.byKind);
  }
}

/// Returns what is added to offsets in the frame.
int64_t Planner::beginOf(const Frame &frame) const {
  return frame.number ? frame.number << kFrameShift
                      : arena + extents[frame.extent].offset;
}

void Planner::setFrameOffsets() {
  for (auto [number, home] : homes)
    offsets[number] += home ? beginOf(*home) : arena + extents[area].offset;
  Builder builder(func.getContext());
  SmallVector<Attribute> all;
  for (auto &[tasks, frame] : frames) {
    if (!frame.number)
      continue;
    SmallVector<int64_t> own;
    for (int64_t j = 0; j < order->microBatchesOfLoop(); ++j)
      own.push_back(arena + extents[frame.extent + j].offset);
    all.push_back(builder.getDenseI64ArrayAttr(own));
  }
  if (!all.empty())
    func->setAttr(RTDialect::kFramesAttr, builder.getArrayAttr(all));
}

/// Counts the bytes of each kind when most of the arena is needed. Beside
/// frames they are those of the task that runs then.
void Planner::countKinds(int64_t bytes) {
  SmallVector<Extent> held(extents);
  if (!contents.empty()) {
    if (area < held.size())
      held[area].bytes = 0;
    for (auto [time, entry] : llvm::enumerate(order->entries())) {
      TaskContent content = contents.lookup(entry.part);
      int64_t at = times.timeOf(static_cast<int64_t>(time));
      held.push_back({content.bytes, at, at});
      kinds.push_back(content.byKind);
    }
  }
  Peak peak = findPeak(held);
  for (auto [extent, content] : llvm::zip(held, kinds))
    if (extent.begin <= peak.position && extent.end >= peak.position)
      for (BufferKind kind : kTransient)
        byKind[kind] += content[kind];
  byKind[Workspace] = bytes;
  for (BufferKind kind : kTransient)
    byKind[Workspace] -= byKind[kind];
  describe(held, peak.position);
}

//===----------------------------------------------------------------------===//
// The content of the arena over the step, for people
//===----------------------------------------------------------------------===//

/// Returns the part of the model whose value lies in the buffer at a time, and
/// its op.
std::string Planner::nameOf(unsigned buffer, int64_t time,
                            std::string &op) const {
  Operation *made = nullptr;
  for (Value member : buffers.all()[buffer].members)
    if (Operation *other = member.getDefiningOp())
      if (!made || (!order && live.positionOf(other) <= time &&
                    live.positionOf(other) > live.positionOf(made)))
        made = other;
  if (!made)
    return "";
  auto launch = dyn_cast<LaunchOp>(made);
  op = launch ? launch.getKernel().str() : made->getName().stripDialect().str();
  return nn::partOf(made->getLoc()).str();
}

/// Describes an extent: a buffer, a frame, or the content of a task beside
/// frames. Only those that are there at the peak have a name.
Holding Planner::holdingOf(size_t number, const Extent &extent,
                           int64_t peak) const {
  Holding holding{extent.begin, extent.end, {}, "", ""};
  for (BufferKind kind : kShown)
    holding.bytes.push_back(kinds[number][kind]);
  if (peak < extent.begin || peak > extent.end)
    return holding;
  if (number < once.size()) {
    holding.name = nameOf(once[number], extent.begin, holding.op);
    return holding;
  }
  auto taskName = [&](int64_t task) {
    return TaskOp(order->parts()[task].begin).getName().str();
  };
  if (number >= extents.size()) {
    int64_t entry = static_cast<int64_t>(number - extents.size());
    holding.op = "task";
    holding.name = taskName(order->entries()[entry].part);
    return holding;
  }
  for (const auto &[tasks, frame] : frames)
    if (number >= frame.extent && !frame.buffers.empty()) {
      holding.op = "frame";
      holding.name = taskName(tasks.first) + " to " + taskName(tasks.second);
    }
  return holding;
}

void Planner::describe(ArrayRef<Extent> held, int64_t peak) {
  SmallVector<StringRef> names;
  for (BufferKind kind : kShown)
    names.push_back(kKindNames[kind]);
  StepMoments moments(func, live, times, order);
  ArenaOverStep described{names, {}, moments.end(), peak, [&](int64_t time) {
                            return moments.at(time);
                          }};
  for (auto [number, extent] : llvm::enumerate(held))
    if (extent.bytes)
      described.holdings.push_back(holdingOf(number, extent, peak));
  overStep = described.json();
}

void Planner::placeTransients() {
  sortBuffers();
  layOutFrames();
  placeTasks();
  placeFrames();
  int64_t bytes = assignOffsets(extents);
  for (auto [number, extent] :
       llvm::zip(once, ArrayRef(extents).take_front(once.size())))
    offsets[number] = arena + extent.offset;
  setFrameOffsets();
  countKinds(bytes);
  arena += bytes;
}

void Planner::annotate() {
  Builder builder(func.getContext());
  SmallVector<Attribute> places;
  for (BlockArgument argument : func.getArguments())
    places.push_back(builder.getI64IntegerAttr(offsetOf(argument)));
  setArgumentAttrs(func, RTDialect::kOffsetAttr, places);
  func.getBody().walk([&](Operation *op) {
    SmallVector<int64_t> results;
    for (Value result : op->getResults())
      if (isa<RankedTensorType>(result.getType()))
        results.push_back(offsetOf(result));
    if (!results.empty())
      op->setAttr(RTDialect::kOffsetsAttr,
                  builder.getDenseI64ArrayAttr(results));
  });
  NamedAttrList kinds;
  for (auto [name, bytes] : llvm::zip(kKindNames, byKind))
    if (bytes || name != kKindNames[Caches]) // only generation has any
      kinds.set(name, builder.getI64IntegerAttr(bytes));
  Operation *owner = arenaOwner(func);
  owner->setAttr(RTDialect::kArenaAttr, builder.getI64IntegerAttr(arena));
  owner->setAttr(RTDialect::kArenaByKindAttr,
                 kinds.getDictionary(func.getContext()));
  owner->setAttr(kArenaOverStepAttr, builder.getStringAttr(overStep));
}

struct PlanMemoryPass : tessera::impl::PlanMemoryPassBase<PlanMemoryPass> {
  using PlanMemoryPassBase::PlanMemoryPassBase;

  void runOnOperation() override {
    FailureOr<SmallVector<func::FuncOp>> programs =
        findPrograms(getOperation());
    if (failed(programs))
      return signalPassFailure();
    SmallVector<SmallVector<func::FuncOp>> groups =
        nn::groupPrograms(*programs);
    // Indexed by stage.
    SmallVector<ArgumentPlaces> places(groups.front().size());
    for (size_t stage = 0; stage < places.size(); ++stage)
      if (failed(places[stage].add(rt::programsOfStage(groups, stage))))
        return signalPassFailure();
    for (ArrayRef<func::FuncOp> group : groups)
      if (failed(failableParallelForEachN(
              &getContext(), 0, group.size(),
              [&](size_t k) { return plan(group[k], places[k]); })))
        return signalPassFailure();
  }

  LogicalResult plan(func::FuncOp func, const ArgumentPlaces &places);
};

LogicalResult PlanMemoryPass::plan(func::FuncOp func,
                                   const ArgumentPlaces &places) {
  Liveness live(func);
  Buffers buffers(func, live);
  SmallVector<Conflict> conflicts = buffers.build();
  for (const Conflict &conflict : conflicts)
    reportConflict(conflict);
  if (!conflicts.empty())
    return failure();
  buffers.shareDyingInputs();
  if (keepsInputs)
    buffers.keepInputsOfNeighbours();
  FailureOr<std::optional<TaskOrder>> found = TaskOrder::of(func);
  if (failed(found))
    return failure();
  // The tasks of one micro-batch run in the order in which they stand.
  const TaskOrder *order = *found && (*found)->getLoop() ? &**found : nullptr;
  TaskTimes times(live, order);
  Planner planner(func, live, buffers, times, order);
  planner.placeArguments(places);
  planner.placeTransients();
  planner.annotate();
  return success();
}

} // namespace
