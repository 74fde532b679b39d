//===- TaskOrder.cpp - the order of a pipeline stage's tasks --------------===//

#include "tessera/Dialect/RT/TaskOrder.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace tessera::rt;

bool tessera::rt::isTaskBorder(Operation *op) {
  return isa<TaskOp, TasksEndOp>(op);
}

bool tessera::rt::isInOneTask(Operation *op, Operation *later) {
  return std::none_of(
      op->getIterator(), later->getIterator(),
      [](Operation &between) { return isTaskBorder(&between); });
}

SmallVector<NumberedTask> tessera::rt::orderOf(func::FuncOp step) {
  SmallVector<NumberedTask> order;
  ArrayRef<int64_t> words;
  if (auto attr = step->getAttrOfType<DenseI64ArrayAttr>(RTDialect::kOrderAttr))
    words = attr.asArrayRef();
  order.reserve(words.size() / 2);
  for (; words.size() > 1; words = words.drop_front(2))
    order.push_back({words[0], words[1]});
  return order;
}

void tessera::rt::setOrder(func::FuncOp step, ArrayRef<NumberedTask> order) {
  SmallVector<int64_t> words;
  words.reserve(2 * order.size());
  for (const NumberedTask &entry : order)
    words.append({entry.number, entry.microBatch});
  step->setAttr(RTDialect::kOrderAttr,
                DenseI64ArrayAttr::get(step.getContext(), words));
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

Block::iterator TaskOrder::Part::first() const {
  return std::next(Block::iterator(TaskOp(begin).getOperation()));
}

Block::iterator TaskOrder::Part::end() const {
  Block *block = TaskOp(begin)->getBlock();
  Block::iterator last = block->getTerminator()->getIterator();
  return std::find_if(first(), last,
                      [](Operation &op) { return isTaskBorder(&op); });
}

int64_t TaskOrder::microBatchesOfLoop() const {
  return loop ? static_cast<int64_t>(LoopOp(loop).getCount()) : 0;
}

int64_t TaskOrder::partOf(Operation *op) const {
  auto it = partsOfOps.find(op);
  return it == partsOfOps.end() ? -1 : it->second;
}

int64_t TaskOrder::timeOf(int64_t part, int64_t microBatch) const {
  return all[part].inLoop ? times[part][microBatch] : times[part].front();
}

void TaskOrder::collect(Block &block) {
  bool inTask = false;
  bool inLoop = !isa<func::FuncOp>(block.getParentOp());
  for (Operation &op : block.without_terminator()) {
    if (auto task = dyn_cast<TaskOp>(op))
      all.push_back({task, inLoop});
    if (isTaskBorder(&op))
      inTask = isa<TaskOp>(op);
    else if (inTask)
      partsOfOps[&op] = static_cast<int64_t>(all.size()) - 1;
  }
}

FailureOr<std::optional<TaskOrder>> TaskOrder::of(func::FuncOp step) {
  if (!step->hasAttr(RTDialect::kOrderAttr))
    return std::optional<TaskOrder>();
  TaskOrder order;
  if (failed(order.build(step)))
    return failure();
  if (order.all.empty())
    return std::optional<TaskOrder>();
  return std::optional<TaskOrder>(std::move(order));
}

/// The last micro-batch has the tasks of the others.
static LogicalResult checkLast(ArrayRef<TaskOrder::Part> all) {
  llvm::DenseSet<uint64_t> numbers;
  for (const TaskOrder::Part &part : all)
    if (!part.inLoop)
      numbers.insert(TaskOp(part.begin).getNumber());
  for (const TaskOrder::Part &part : all)
    if (part.inLoop && !numbers.contains(TaskOp(part.begin).getNumber()))
      return TaskOp(part.begin).emitError()
             << "is not among the tasks of the last micro-batch, which follow "
                "the loop";
  return success();
}

LogicalResult TaskOrder::build(func::FuncOp step) {
  Block &body = step.getBody().front();
  for (auto each : body.getOps<LoopOp>())
    if (!each.getBody().front().getOps<TaskOp>().empty()) {
      if (loop)
        return each.emitError() << "is a second loop of tasks";
      loop = each;
      collect(each.getBody().front());
    }
  collect(body);
  times.resize(all.size());
  return success(succeeded(addEntries(step)) && succeeded(checkTimes(step)) &&
                 succeeded(checkSums()) && succeeded(checkBetween(step)) &&
                 succeeded(checkLast(all)));
}

LogicalResult TaskOrder::addEntries(func::FuncOp step) {
  llvm::DenseMap<int64_t, int64_t> inLoop, outside;
  for (auto [index, part] : llvm::enumerate(all)) {
    auto number = static_cast<int64_t>(TaskOp(part.begin).getNumber());
    auto &known = part.inLoop ? inLoop : outside;
    if (!known.try_emplace(number, index).second)
      return TaskOp(part.begin).emitError()
             << "is a second task of number " << number;
  }
  int64_t count = microBatchesOfLoop();
  SmallVector<NumberedTask> entries = orderOf(step);
  order.reserve(entries.size());
  for (const NumberedTask &entry : entries) {
    auto &known = entry.microBatch < count ? inLoop : outside;
    auto part = known.find(entry.number);
    if (entry.microBatch < 0 || entry.microBatch > count || part == known.end())
      return step.emitError()
             << "runs task " << entry.number << " for micro-batch "
             << entry.microBatch << ", which is not there";
    times[part->second].push_back(static_cast<int64_t>(order.size()));
    order.push_back({part->second, entry.microBatch});
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

LogicalResult TaskOrder::checkTimes(func::FuncOp step) const {
  for (auto [index, part] : llvm::enumerate(all)) {
    int64_t count = part.inLoop ? microBatchesOfLoop() : 1;
    if (static_cast<int64_t>(times[index].size()) != count)
      return TaskOp(part.begin).emitError()
             << "runs " << times[index].size() << " times for " << count
             << " micro-batches";
    for (int64_t j = 0; j < count; ++j)
      if (part.inLoop && order[times[index][j]].microBatch != j)
        return TaskOp(part.begin).emitError()
               << "runs for micro-batch " << order[times[index][j]].microBatch
               << " when it is the turn of " << j;
  }
  // There are as many entries as micro-batches, or there was an error.
  llvm::SmallVector<int64_t> lastPart(microBatchesOfLoop() + 1, -1);
  for (const Entry &entry : order) {
    int64_t &last = lastPart[entry.microBatch];
    if (entry.part < last)
      return TaskOp(all[entry.part].begin).emitError()
             << "runs after a later task of micro-batch " << entry.microBatch;
    last = entry.part;
  }
  return success();
}

/// Returns an op whose part may not read a value that it reads, or null. Views
/// and concatenations read nothing: what reads them does.
Operation *TaskOrder::findReader(Value value,
                                 llvm::function_ref<bool(int64_t)> may) const {
  for (Operation *user : value.getUsers()) {
    Operation *reader = user;
    if (isa<ViewOp, ConcatOp>(user))
      reader = findReader(user->getResult(0), may);
    else if (isa<YieldOp>(user) || may(partOf(user)))
      reader = nullptr;
    if (reader)
      return reader;
  }
  return nullptr;
}

/// Checks that values which the loop carries are read and written by one task,
/// as another would see the sum of other micro-batches. The last micro-batch
/// reads them after that task has run for the last time in the loop.
LogicalResult TaskOrder::checkSums() const {
  if (!loop)
    return success();
  Block &body = LoopOp(loop).getBody().front();
  for (auto [argument, next, sum] : llvm::zip(
           body.getArguments().drop_front(),
           body.getTerminator()->getOperands(), LoopOp(loop).getResults())) {
    Operation *made = next.getDefiningOp();
    int64_t part = made ? partOf(made) : -1;
    auto isSame = [&](int64_t other) { return other == part; };
    auto isLater = [&](int64_t other) {
      return other < 0 || part < 0 || firstTimeOf(other) > lastTimeOf(part);
    };
    Operation *reader = findReader(argument, isSame);
    if (!reader)
      reader = findReader(next, isSame);
    if (reader)
      return reader->emitError()
             << "reads a sum over micro-batches that another task adds to";
    if ((reader = findReader(sum, isLater)))
      return reader->emitError()
             << "reads a sum over micro-batches to which some are added later";
  }
  return success();
}

/// Checks that nothing runs between the loop and the tasks of the last
/// micro-batch.
LogicalResult TaskOrder::checkBetween(func::FuncOp step) const {
  auto refuse = [](Operation &op) {
    return op.emitError() << "stands among tasks, but in none";
  };
  if (loop)
    for (Operation &op : LoopOp(loop).getBody().front().without_terminator())
      if (isa<RuntimeCallOpInterface>(op) && partOf(&op) < 0)
        return refuse(op);
  if (!loop || all.empty() || all.back().inLoop)
    return success();
  for (Operation *op = LoopOp(loop)->getNextNode(); op && !isTaskBorder(op);
       op = op->getNextNode())
    if (isa<RuntimeCallOpInterface, LoopOp>(op))
      return refuse(*op);
  return success();
}

//===----------------------------------------------------------------------===//
// Frames
//===----------------------------------------------------------------------===//

int64_t tessera::rt::countFrames(func::FuncOp step) {
  auto frames = step->getAttrOfType<ArrayAttr>(RTDialect::kFramesAttr);
  return frames ? static_cast<int64_t>(frames.size()) : 0;
}

ArrayRef<int64_t> tessera::rt::frameOffsets(func::FuncOp step, int64_t number) {
  auto frames = step->getAttrOfType<ArrayAttr>(RTDialect::kFramesAttr);
  return cast<DenseI64ArrayAttr>(frames[number - 1]).asArrayRef();
}
