//===- ThreadTeam.cpp - The threads of a rank -----------------------------===//

#include "runtime/support/ThreadTeam.h"

#include "runtime/support/SignalsBlocked.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <thread>
#include <utility>

using namespace tessera;

/// About the time that waking a sleeping thread takes.
static constexpr std::chrono::microseconds kSpin{40};

/// Waits until `value` differs from `old`; spins first, then sleeps.
static void waitWhile(const std::atomic<uint32_t> &value, uint32_t old) {
  const auto end = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < 32; ++i) {
      if (value.load(std::memory_order_acquire) != old)
        return;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
  } while (std::chrono::steady_clock::now() < end);
  value.wait(old, std::memory_order_acquire);
}

/// One thread and the two counters over which it is given work and says that it
/// is done, on lines of their own.
class ThreadTeam::Worker {
public:
  Worker() : thread([this] { loop(); }) {}
  ~Worker() {
    start(nullptr, nullptr, 0);
    thread.join();
  }

  void start(Task newTask, const void *newContext, int newPart) {
    task = newTask;
    context = newContext;
    part = newPart;
    started.store(++round, std::memory_order_release);
    started.notify_one();
  }

  /// Waits for the part and returns what it has thrown, or null.
  std::exception_ptr finish() {
    while (finished.load(std::memory_order_acquire) != round)
      waitWhile(finished, round - 1);
    return std::exchange(error, nullptr);
  }

private:
  void loop() {
    for (uint32_t seen = 0;; ++seen) {
      waitWhile(started, seen);
      if (!task)
        return;
      try {
        task(context, part);
      } catch (...) {
        error = std::current_exception();
      }
      finished.store(seen + 1, std::memory_order_release);
      finished.notify_one();
    }
  }

  Task task = nullptr;
  const void *context = nullptr;
  int part = 0;
  std::exception_ptr error;
  uint32_t round = 0; // round number of the caller
  alignas(64) std::atomic<uint32_t> started{0};
  alignas(64) std::atomic<uint32_t> finished{0};
  std::thread thread; // last: it uses the others
};

ThreadTeam::ThreadTeam() = default;
ThreadTeam::~ThreadTeam() = default;

ThreadTeam &ThreadTeam::ofThisThread() {
  thread_local ThreadTeam team;
  return team;
}

int ThreadTeam::startWorkers(int wanted) {
  if (static_cast<int>(workers.size()) >= wanted)
    return wanted;
  SignalsBlocked blocked;
  try {
    while (static_cast<int>(workers.size()) < wanted)
      workers.push_back(std::make_unique<Worker>());
  } catch (const std::exception &) { // no thread, or no memory for one
    // The caller does what nobody else can.
  }
  return static_cast<int>(workers.size());
}

void ThreadTeam::shrink(int kept) {
  while (static_cast<int>(workers.size()) > kept)
    workers.pop_back();
}

void ThreadTeam::run(int parts, Task task, const void *context) {
  const int helpers = startWorkers(parts - 1);
  std::exception_ptr error;
  auto runHere = [&](int part) {
    try {
      task(context, part);
    } catch (...) {
      error = std::current_exception();
    }
  };
  for (int i = 0; i < helpers; ++i)
    workers[i]->start(task, context, i + 1);
  runHere(0);
  for (int part = helpers + 1; part < parts; ++part)
    runHere(part);
  for (int i = 0; i < helpers; ++i)
    if (std::exception_ptr thrown = workers[i]->finish())
      error = thrown;
  if (error)
    std::rethrow_exception(error);
}
