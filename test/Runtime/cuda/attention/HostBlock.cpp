//===- HostBlock.cpp - A thread block on a CPU ----------------------------===//

#include "test/Runtime/cuda/attention/HostBlock.h"
#include "test/Fibers.h"

#include <algorithm>
#include <numeric>
#include <random>

using namespace tessera::test;

thread_local HostBlock *HostBlock::current = nullptr;

static constexpr size_t kStackBytes = 256 * 1024;
static constexpr int kLanes = 32;

/// Stacks of earlier blocks of this host thread, whose pages are there already.
static thread_local std::vector<std::unique_ptr<unsigned char[]>> spareStacks;

HostBlock::HostBlock(int threads, int sharedBytes, Order chosen)
    : index{}, shared(sharedBytes, threads), fibers(size_t(threads)),
      states(size_t(threads), State::Done),
      inWarp(size_t(threads / kLanes + 1)), order(size_t(threads)) {
  for (Fiber &fiber : fibers) {
    if (spareStacks.empty())
      spareStacks.emplace_back(new unsigned char[kStackBytes]);
    fiber.stack = std::move(spareStacks.back());
    spareStacks.pop_back();
  }
  std::iota(order.begin(), order.end(), 0);
  if (chosen == Order::Backward)
    std::reverse(order.begin(), order.end());
  if (chosen == Order::Shuffled)
    std::shuffle(order.begin(), order.end(), std::mt19937(1));
}

/// After a defect a stack may hold frames that were never left.
HostBlock::~HostBlock() {
  if (!shared.defect().empty())
    return;
  for (Fiber &fiber : fibers)
    spareStacks.push_back(std::move(fiber.stack));
}

/// Runs the bodies of all runs, one after the other.
void HostBlock::enter() {
  for (;;) {
    HostBlock &block = *current;
    (*block.body)(block.shared.data());
    block.wait(State::Done);
  }
}

/// The first turn from `from` on of a thread that can go on, or their number.
size_t HostBlock::nextReady(size_t from) const {
  while (from < order.size() && states[size_t(order[from])] != State::Ready)
    ++from;
  return from;
}

/// Returns where the thread with the next turn waits; that of the scheduler if
/// there is none, or if it has not entered its stack.
void **HostBlock::passTurn() {
  const size_t next = nextReady(turn + 1);
  if (next == order.size() || !fibers[size_t(order[next])].started)
    return scheduler;
  turn = next;
  thread = order[next];
  return fibers[size_t(thread)].resumed;
}

void HostBlock::wait(State state) {
  Fiber &own = fibers[size_t(thread)];
  states[size_t(thread)] = state;
  void **next = passTurn();
  if (__builtin_setjmp(own.resumed) == 0)
    jump(next);
}

/// Returns when a turn cannot be passed on.
void HostBlock::resume(int next) {
  Fiber &fiber = fibers[size_t(next)];
  thread = next;
  if (__builtin_setjmp(scheduler) != 0)
    return;
  if (fiber.started)
    jump(fiber.resumed);
  fiber.started = true;
  enterStack(fiber.stack.get(), kStackBytes, enter);
}

void HostBlock::barrier() { wait(State::AtBarrier); }

void HostBlock::meet(WarpOperation operation, void *slot) {
  Fiber &fiber = fibers[size_t(thread)];
  fiber.operation = operation;
  fiber.slot = slot;
  if (++inWarp[size_t(thread / kLanes)] == kLanes)
    releaseWarp();
  else
    wait(State::InWarp);
}

/// Applies the operation: the running thread is the last of its warp.
void HostBlock::releaseWarp() {
  const size_t first = size_t(thread / kLanes * kLanes);
  const Fiber *lanes = &fibers[first];
  void *slots[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    if (lanes[i].operation != lanes[0].operation)
      shared.report("lanes of a warp meet in different operations");
    slots[i] = lanes[i].slot;
  }
  lanes[0].operation(slots);
  std::fill_n(states.begin() + std::ptrdiff_t(first), kLanes, State::Ready);
  inWarp[size_t(thread / kLanes)] = 0;
}

bool HostBlock::resumeReady() {
  bool any = false;
  for (turn = nextReady(0); turn < order.size(); turn = nextReady(turn + 1)) {
    any = true;
    resume(order[turn]);
  }
  return any;
}

bool HostBlock::releaseBarrier() {
  for (State state : states)
    if (state != State::AtBarrier)
      return false;
  std::fill(states.begin(), states.end(), State::Ready);
  shared.barrier();
  return true;
}

std::string HostBlock::run(Index at,
                           const std::function<void(unsigned char *)> &work) {
  index = at;
  body = &work;
  current = this;
  shared.start();
  std::fill(states.begin(), states.end(), State::Ready);
  std::fill(inWarp.begin(), inWarp.end(), 0);
  while (resumeReady() || releaseBarrier()) {
  }
  for (size_t i = 0; i < states.size(); ++i)
    if (states[i] != State::Done) {
      shared.report("threads wait for others that do not come");
      fibers[i].started = false; // the next run begins anew
    }
  shared.finish();
  current = nullptr;
  return shared.defect();
}
