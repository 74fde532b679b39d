//===- OpOrder.cpp - the order of a block's ops while they move -----------===//

#include "tessera/Dialect/RT/OpOrder.h"
#include "mlir/IR/Block.h"

using namespace mlir;
using namespace tessera::rt;

/// Numbers lie between 0 and this.
static constexpr int64_t kEnd = int64_t(1) << 62;

/// Neighbours in a block, and the numbers between which theirs lie.
struct OpOrder::Window {
  Operation *first, *last;
  int64_t count = 1;
  int64_t low = 0, high = kEnd;

  bool growLeft() {
    if (!first->getPrevNode())
      return false;
    first = first->getPrevNode();
    return ++count;
  }
  bool growRight() {
    if (!last->getNextNode())
      return false;
    last = last->getNextNode();
    return ++count;
  }
  bool hasRoom(int64_t places) const { return (high - low) / places > count; }
};

void OpOrder::spread(const Window &window) {
  int64_t step = (window.high - window.low) / (window.count + 1);
  int64_t next = window.low;
  for (Operation *op = window.first;; op = op->getNextNode()) {
    numbers[op] = next += step;
    ++work;
    if (op == window.last)
      return;
  }
}

/// Gives numbers to an op and its neighbours that have none. If there are not
/// enough between those that stand beside them, a window of n ops is spread
/// that leaves n * n places for each: it fills up again only after many moves.
void OpOrder::number(Operation *op) {
  Window window{op, op};
  auto grow = [&](auto enough) {
    while (true) {
      Operation *before = window.first->getPrevNode();
      Operation *after = window.last->getNextNode();
      auto left = numbers.find(before), right = numbers.find(after);
      bool knowsLeft = !before || left != numbers.end();
      bool knowsRight = !after || right != numbers.end();
      window.low = before && knowsLeft ? left->second : 0;
      window.high = after && knowsRight ? right->second : kEnd;
      if (knowsLeft && knowsRight && enough())
        return;
      bool grewLeft = (!knowsLeft || knowsRight) && window.growLeft();
      bool grewRight = (!knowsRight || knowsLeft) && window.growRight();
      if (!grewLeft && !grewRight)
        return;
    }
  };
  grow([] { return true; });
  if (!window.hasRoom(1))
    grow([&] { return window.hasRoom(window.count * window.count); });
  spread(window);
}

int64_t OpOrder::numberOf(Operation *op) {
  Block *block = op->getBlock();
  if (known.insert(block).second) {
    auto count =
        static_cast<int64_t>(std::distance(block->begin(), block->end()));
    spread({&block->front(), &block->back(), count});
  }
  if (auto found = numbers.find(op); found != numbers.end())
    return found->second;
  number(op);
  return numbers.lookup(op);
}

/// The second number may have moved the first.
bool OpOrder::isBefore(Operation *a, Operation *b) {
  numberOf(a);
  int64_t second = numberOf(b);
  return numbers.lookup(a) < second;
}

void OpOrder::moveBefore(Operation *op, Operation *place) {
  numbers.erase(op);
  op->moveBefore(place);
}

void OpOrder::moveAfter(Operation *op, Operation *place) {
  numbers.erase(op);
  op->moveAfter(place);
}

void OpOrder::erase(Operation *op) {
  numbers.erase(op);
  op->erase();
}
