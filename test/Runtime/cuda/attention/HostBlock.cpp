//===- HostBlock.cpp - A thread block on a CPU ----------------------------===//

// Fibers jump between stacks with longjmp, a hundred times faster than
// swapcontext with its system calls. The fortified longjmp refuses that.
#undef _FORTIFY_SOURCE

#include "test/Runtime/cuda/attention/HostBlock.h"

#include <algorithm>
#include <numeric>
#include <random>

using namespace tessera::test;

thread_local HostBlock *HostBlock::current = nullptr;

static constexpr size_t kStackBytes = 256 * 1024;
static constexpr int kLanes = 32;

HostBlock::HostBlock(int threads, int sharedBytes, Order chosen)
    : index{}, shared(sharedBytes, threads), fibers(size_t(threads)),
      order(size_t(threads)) {
  for (Fiber &fiber : fibers)
    fiber.stack.reset(new unsigned char[kStackBytes]);
  std::iota(order.begin(), order.end(), 0);
  if (chosen == Order::Backward)
    std::reverse(order.begin(), order.end());
  if (chosen == Order::Shuffled)
    std::shuffle(order.begin(), order.end(), std::mt19937(1));
}

void HostBlock::enter() {
  HostBlock &block = *current;
  (*block.body)(block.shared.data());
  block.wait(State::Done);
}

void HostBlock::wait(State state) {
  Fiber &fiber = fibers[size_t(thread)];
  fiber.state = state;
  if (_setjmp(fiber.resumed) == 0)
    _longjmp(scheduler, 1);
}

/// Runs `next` until it waits. A thread's first turn enters its stack.
void HostBlock::resume(int next) {
  Fiber &fiber = fibers[size_t(next)];
  thread = next;
  if (_setjmp(scheduler) != 0)
    return;
  if (fiber.started)
    _longjmp(fiber.resumed, 1);
  fiber.started = true;
  setcontext(&fiber.context);
}

void HostBlock::barrier() { wait(State::AtBarrier); }

void HostBlock::meet(WarpOperation operation, void *slot) {
  Fiber &fiber = fibers[size_t(thread)];
  fiber.operation = operation;
  fiber.slot = slot;
  fiber.state = State::InWarp;
  releaseWarp();
  if (fiber.state == State::InWarp)
    wait(State::InWarp);
}

/// Applies the operation when the running thread was the last of its warp.
void HostBlock::releaseWarp() {
  Fiber *lanes = &fibers[size_t(thread / kLanes * kLanes)];
  void *slots[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    if (lanes[i].state != State::InWarp)
      return;
    if (lanes[i].operation != lanes[0].operation)
      shared.report("lanes of a warp meet in different operations");
    slots[i] = lanes[i].slot;
  }
  lanes[0].operation(slots);
  for (int i = 0; i < kLanes; ++i)
    lanes[i].state = State::Ready;
}

bool HostBlock::resumeReady() {
  bool any = false;
  for (int next : order) {
    Fiber &fiber = fibers[size_t(next)];
    if (fiber.state != State::Ready)
      continue;
    any = true;
    resume(next);
  }
  return any;
}

bool HostBlock::releaseBarrier() {
  for (Fiber &fiber : fibers)
    if (fiber.state != State::AtBarrier)
      return false;
  for (Fiber &fiber : fibers)
    fiber.state = State::Ready;
  shared.barrier();
  return true;
}

std::string HostBlock::run(Index at,
                           const std::function<void(unsigned char *)> &work) {
  index = at;
  body = &work;
  current = this;
  shared.start();
  for (Fiber &fiber : fibers) {
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = kStackBytes;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, enter, 0);
    fiber.state = State::Ready;
    fiber.started = false;
  }
  while (resumeReady() || releaseBarrier()) {
  }
  for (Fiber &fiber : fibers)
    if (fiber.state != State::Done)
      shared.report("threads wait for others that do not come");
  shared.finish();
  current = nullptr;
  return shared.defect();
}
