//===- RankThreads.h - one lasting thread per rank --------------*- C++ -*-===//
// Runs a job on all ranks at once and waits for it. A thread that never comes
// back is given up: it keeps what its job holds, and is detached at the end.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_SESSION_RANKTHREADS_H
#define TESSERA_RUNTIME_SESSION_RANKTHREADS_H

#include "runtime/device/Cores.h"
#include "runtime/support/Status.h"

#include <chrono>
#include <functional>
#include <memory>
#include <thread>

namespace tessera {

class RankThreads {
public:
  /// `spin`: how long a thread looks for its next job before it sleeps.
  RankThreads(int64_t ranks, const CorePlan &plan,
              std::chrono::microseconds spin);
  RankThreads(const RankThreads &) = delete;
  RankThreads &operator=(const RankThreads &) = delete;
  /// Waits a moment for threads that were given up.
  ~RankThreads();

  /// Must own what it needs: it may outlive this object if it never returns.
  using Job = std::function<void(int64_t rank)>;
  /// Runs job(rank) on every rank's thread. Returns the first rank's failure.
  /// While waiting, giveUp(ranks still running) is asked now and then; if it
  /// says true, `run` returns TSR_TIMEOUT at once and must not be called again.
  Status run(Job job, const std::function<bool(int64_t)> &giveUp = nullptr);

private:
  struct State;
  static void loop(std::shared_ptr<State> state, int64_t rank,
                   std::vector<int> cores);
  void stop();

  std::shared_ptr<State> state;
  std::vector<std::thread> threads;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_SESSION_RANKTHREADS_H
