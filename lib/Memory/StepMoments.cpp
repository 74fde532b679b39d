//===- StepMoments.cpp - what runs at the times of a step -----------------===//

#include "lib/Memory/StepMoments.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NN.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::rt;

StepMoments::StepMoments(func::FuncOp func, const Liveness &live,
                         const TaskTimes &times, const TaskOrder *order)
    : order(order), ops(live.end() + 1) {
  func.getBody().walk([&](Operation *op) { ops[live.positionOf(op)] = op; });
  if (!order)
    return;
  first = times.timeOf(0);
  count = static_cast<int64_t>(order->entries().size());
  after = live.positionOf(&*order->parts().back().end());
}

int64_t StepMoments::end() const {
  auto last = static_cast<int64_t>(ops.size()) - 1;
  return order ? first + count + last - after : last;
}

Moment StepMoments::at(int64_t time) const {
  if (order && time >= first && time < first + count)
    return {taskAt(time - first), "task"};
  bool isAfter = order && time >= first;
  Operation *op = ops[isAfter ? time - first - count + after : time];
  if (!op || op->hasTrait<OpTrait::IsTerminator>())
    return {};
  return {nn::partOf(op->getLoc()).str(),
          nn::stringifyPhase(nn::phaseOf(op)).str()};
}

/// Returns "B0 3" for the task of the fourth micro-batch.
std::string StepMoments::taskAt(int64_t number) const {
  TaskOrder::Entry entry = order->entries()[number];
  return (TaskOp(order->parts()[entry.part].begin).getName() + " " +
          Twine(entry.microBatch))
      .str();
}
