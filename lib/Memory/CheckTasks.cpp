//===- CheckTasks.cpp - what tasks leave for each other -------------------===//

#include "lib/Memory/CheckTasks.h"
#include "tessera/Dialect/RT/RowLayout.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::rt;

//===----------------------------------------------------------------------===//
// Contents
//===----------------------------------------------------------------------===//

/// Returns the value that a view or a concatenation is a part of.
static Value rootOf(Value value) {
  while (auto view = value.getDefiningOp<ViewOp>())
    value = view.getSource();
  return value;
}

/// A sum over micro-batches is one content whatever was added to it last, and
/// so are the parts of a concatenation: the order of the tasks that add is
/// checked by TaskOrder, and each task by the checker of programs.
void TaskChecker::joinContents() {
  step.walk([&](Operation *op) {
    if (auto loop = dyn_cast<LoopOp>(op))
      joinLoop(loop);
    if (auto concat = dyn_cast<ConcatOp>(op))
      for (Value part : concat->getOperands())
        same.unionSets(rootOf(part).getAsOpaquePointer(),
                       concat.getResult().getAsOpaquePointer());
  });
}

void TaskChecker::joinLoop(LoopOp loop) {
  Block &body = loop.getBody().front();
  for (auto [init, argument, next, result] :
       llvm::zip(loop.getInits(), body.getArguments().drop_front(),
                 body.getTerminator()->getOperands(), loop.getResults())) {
    same.unionSets(rootOf(init).getAsOpaquePointer(),
                   argument.getAsOpaquePointer());
    same.unionSets(rootOf(next).getAsOpaquePointer(),
                   argument.getAsOpaquePointer());
    same.unionSets(result.getAsOpaquePointer(), argument.getAsOpaquePointer());
  }
}

int64_t TaskChecker::contentOf(Value value) {
  void *leader =
      same.getOrInsertLeaderValue(rootOf(value).getAsOpaquePointer());
  // 0 is what nobody reads, and frames have negative contents.
  return contents.try_emplace(leader, contents.size() + 1).first->second;
}

int64_t TaskChecker::contentOfFrame(int64_t frame, int64_t microBatch) const {
  return -(frame * order.microBatchesOfLoop() + microBatch + 1);
}

ByteRange TaskChecker::bytesOf(Value value) const {
  Value root = rootOf(value);
  int64_t begin = *offsetOf(root);
  return {begin, begin + layoutOf(root).span() * elementBytesOf(root)};
}

//===----------------------------------------------------------------------===//
// Uses of each part
//===----------------------------------------------------------------------===//

bool TaskChecker::isReadElsewhere(Value value, int64_t part) const {
  if (resultEntry(value, RTDialect::kKeepAttr))
    return true;
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (order.partOf(user) != part)
      return true;
    return isa<ViewOp, ConcatOp>(user) &&
           isReadElsewhere(user->getResult(0), part);
  });
}

void TaskChecker::addFrame(int64_t part, Value value) {
  ByteRange bytes = bytesOf(value);
  int64_t number = frameOf(bytes.begin);
  Frame &frame = frames[number - 1];
  frame.bytes = std::max(frame.bytes,
                         offsetInFrame(bytes.begin) + bytes.end - bytes.begin);
  frame.firstPart = std::min(frame.firstPart, part);
  if (!llvm::is_contained(uses[part].frames, number))
    uses[part].frames.push_back(number);
}

void TaskChecker::addRead(int64_t part, Operation *op, Value value) {
  if (frameOf(*offsetOf(value)) != 0)
    return addFrame(part, value);
  Operation *made = rootOf(value).getDefiningOp();
  if (auto concat = dyn_cast_or_null<ConcatOp>(made)) {
    for (Value each : concat->getOperands())
      addRead(part, op, each);
    return;
  }
  if (made && order.partOf(made) == part)
    return;
  uses[part].reads.push_back({bytesOf(value), contentOf(value), op});
}

void TaskChecker::addWrite(int64_t part, Value value) {
  if (frameOf(*offsetOf(value)) != 0)
    return addFrame(part, value);
  ByteRange bytes = bytesOf(value);
  if (bytes.begin == bytes.end)
    return;
  int64_t content = isReadElsewhere(value, part) ? contentOf(value) : 0;
  uses[part].writes.push_back({bytes, content, value.getDefiningOp()});
}

void TaskChecker::collectPart(int64_t part) {
  const TaskOrder::Part &ops = order.parts()[part];
  for (Operation &op : llvm::make_range(ops.first(), ops.end())) {
    if (!isa<RuntimeCallOpInterface>(op))
      continue;
    for (Value operand : op.getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        addRead(part, &op, operand);
    for (Value result : op.getResults())
      addWrite(part, result);
  }
}

/// Collects the values that exist before the tasks, and those that must exist
/// after them.
void TaskChecker::collectAround() {
  auto add = [&](SmallVector<Access> &to, Value value, Operation *op) {
    if (isa<RankedTensorType>(value.getType()))
      to.push_back({bytesOf(value), contentOf(value), op});
  };
  for (BlockArgument argument : step.getArguments()) {
    add(before, argument, step);
    add(after, argument, step);
  }
  LoopOp loop = order.getLoop();
  TaskOp first = order.parts().front().begin;
  Operation *border = loop ? loop.getOperation() : first.getOperation();
  Operation *end = &*order.parts().back().end();
  for (Operation &op :
       llvm::make_range(step.getBody().front().begin(), border->getIterator()))
    if (isa<RuntimeCallOpInterface, LoopOp>(op))
      for (Value result : op.getResults())
        add(before, result, &op);
  for (Operation &op :
       llvm::make_range(end->getIterator(), step.getBody().front().end()))
    for (Value operand : op.getOperands()) {
      Operation *made = rootOf(operand).getDefiningOp();
      if (made &&
          (made->getBlock() != end->getBlock() || made->isBeforeInBlock(end)))
        add(after, operand, &op);
    }
}

//===----------------------------------------------------------------------===//
// The step
//===----------------------------------------------------------------------===//

ByteRange TaskChecker::rangeOf(int64_t frame, int64_t microBatch) const {
  const Frame &of = frames[frame - 1];
  return {of.offsets[microBatch], of.offsets[microBatch] + of.bytes};
}

LogicalResult TaskChecker::checkBounds() {
  int64_t count = order.microBatchesOfLoop();
  for (int64_t number = 1; number <= countFrames(step); ++number) {
    auto given = static_cast<int64_t>(frames[number - 1].offsets.size());
    if (given != count)
      return step.emitError() << "has " << given << " offsets of frame "
                              << number << " for " << count << " micro-batches";
    for (int64_t j = 0; j < count; ++j)
      if (ByteRange bytes = rangeOf(number, j);
          bytes.begin < 0 || bytes.end > arenaBytes)
        return step.emitError() << "has frame " << number << " of micro-batch "
                                << j << " at bytes " << bytes.str()
                                << " of an arena of " << arenaBytes << " bytes";
  }
  return success();
}

/// Checks what tasks read and no task writes, which is most of it: it is looked
/// at once.
LogicalResult TaskChecker::checkConstants() {
  AbstractArena written;
  for (const PartUse &use : uses)
    for (const Access &write : use.writes)
      written.write(write.bytes, 1, write.op);
  for (int64_t number = 1; number <= countFrames(step); ++number)
    for (int64_t j = 0; j < order.microBatchesOfLoop(); ++j)
      if (ByteRange bytes = rangeOf(number, j); bytes.begin < bytes.end)
        written.write(bytes, 1, step);
  for (auto [part, use] : llvm::enumerate(uses)) {
    SmallVector<Access> left;
    for (const Access &read : use.reads) {
      if (written.findOther(read.bytes, 0))
        left.push_back(read);
      else if (failed(check(read.bytes, read.content,
                            {static_cast<int64_t>(part), 0}, read.op)))
        return failure();
    }
    use.reads = std::move(left);
  }
  return success();
}

LogicalResult TaskChecker::check(ByteRange bytes, int64_t content,
                                 TaskOrder::Entry entry, Operation *reader) {
  const AbstractArena::Entry *other = arena.findOther(bytes, content);
  if (!other)
    return success();
  InFlightDiagnostic error = reader->emitError()
                             << "needs bytes " << bytes.str();
  if (entry.part >= 0)
    error << " in task " << TaskOp(order.parts()[entry.part].begin).getName()
          << " of micro-batch " << entry.microBatch;
  error << ", which no longer hold what was put there";
  if (other->writer)
    error.attachNote(other->writer->getLoc())
        << "bytes " << other->bytes.str() << " are written here";
  return error;
}

LogicalResult TaskChecker::checkFrames(TaskOrder::Entry entry) {
  TaskOp task = order.parts()[entry.part].begin;
  for (int64_t number : uses[entry.part].frames)
    if (failed(check(rangeOf(number, entry.microBatch),
                     contentOfFrame(number, entry.microBatch), entry, task)))
      return failure();
  return success();
}

/// Frames begin first, so that they cannot lie where the task reads. Writes
/// come last: in which order a task reads and writes what lies outside of
/// frames is checked with the program. In the end frames must still hold what
/// they held.
LogicalResult TaskChecker::runEntry(TaskOrder::Entry entry) {
  PartUse &use = uses[entry.part];
  TaskOp task = order.parts()[entry.part].begin;
  for (int64_t number : use.frames)
    if (frames[number - 1].firstPart == entry.part)
      arena.write(rangeOf(number, entry.microBatch),
                  contentOfFrame(number, entry.microBatch), task);
  for (const Access &read : use.reads)
    if (failed(check(read.bytes, read.content, entry, read.op)))
      return failure();
  for (const Access &write : use.writes)
    arena.write(write.bytes, write.content, write.op);
  return checkFrames(entry);
}

LogicalResult TaskChecker::run() {
  uses.resize(order.parts().size());
  for (int64_t number = 1; number <= countFrames(step); ++number)
    frames.push_back({frameOffsets(step, number)});
  joinContents();
  for (int64_t part = 0; part < static_cast<int64_t>(uses.size()); ++part)
    collectPart(part);
  collectAround();
  if (failed(checkBounds()))
    return failure();
  for (const Access &value : before)
    if (value.bytes.begin < value.bytes.end)
      arena.write(value.bytes, value.content, value.op);
  if (failed(checkConstants()))
    return failure();
  for (TaskOrder::Entry entry : order.entries())
    if (failed(runEntry(entry)))
      return failure();
  for (const Access &value : after)
    if (failed(check(value.bytes, value.content, {-1, 0}, value.op)))
      return failure();
  return success();
}
