//===- TaskTimes.cpp - when a step with tasks needs its buffers -----------===//

#include "lib/Memory/TaskTimes.h"

using namespace mlir;
using namespace tessera::rt;

TaskTimes::TaskTimes(const Liveness &live, const TaskOrder *order)
    : live(live), order(order) {
  if (!order)
    return;
  LoopOp loop = order->getLoop();
  TaskOp first = order->parts().front().begin;
  start = live.positionOf(loop ? loop.getOperation() : first.getOperation());
  end = live.positionOf(&*order->parts().back().end());
}

int64_t TaskTimes::positionOf(int64_t task) const {
  return live.positionOf(TaskOp(order->parts()[task].begin));
}

int64_t TaskTimes::endOf(int64_t task) const {
  return live.positionOf(&*order->parts()[task].end());
}

/// Positions among the tasks are those of loops and of what they carry.
int64_t TaskTimes::timeOutside(int64_t position) const {
  if (!order || position <= start)
    return position;
  return std::max<int64_t>(position - end, 0) +
         timeOf(static_cast<int64_t>(order->entries().size()));
}

/// The first and the last use of each kind.
struct TaskTimes::Span {
  int64_t begin = INT64_MAX, end = INT64_MIN;  ///< Times.
  int64_t first = INT64_MAX, last = INT64_MIN; ///< Parts.
  bool isOutside = false, inLoop = false, isLast = false;

  void add(int64_t from, int64_t to) {
    begin = std::min(begin, from);
    end = std::max(end, to);
  }
};

void TaskTimes::addUse(Span &span, Operation *op) const {
  int64_t part = order ? order->partOf(op) : -1;
  if (part < 0) {
    span.isOutside = true;
    int64_t time = timeOutside(live.positionOf(op));
    return span.add(time, time);
  }
  (order->parts()[part].inLoop ? span.inLoop : span.isLast) = true;
  span.first = std::min(span.first, part);
  span.last = std::max(span.last, part);
  span.add(timeOf(order->firstTimeOf(part)), timeOf(order->lastTimeOf(part)));
}

BufferUse TaskTimes::useOf(const Buffer &buffer) const {
  if (!order)
    return {BufferUse::Once, buffer.begin, buffer.end};
  Span span;
  for (Value member : buffer.members) {
    Operation *made = member.getDefiningOp();
    // A value that a loop carries exists before the loop and after it.
    bool isCarried = !made || isa<LoopOp>(made);
    span.isOutside |= isCarried;
    if (!isCarried)
      addUse(span, made);
    for (Operation *user : member.getUsers())
      if (!isa<YieldOp>(user))
        addUse(span, user);
    if (live.lastUse(member) == live.end()) {
      span.isOutside = true;
      span.add(timeOutside(live.end()), timeOutside(live.end()));
    }
  }
  BufferUse use{BufferUse::Once, span.begin, span.end, span.first, span.last};
  if (span.isOutside || (span.inLoop && span.isLast))
    return use;
  use.kind = span.first == span.last ? BufferUse::OfTask : BufferUse::OfFrame;
  return use;
}
