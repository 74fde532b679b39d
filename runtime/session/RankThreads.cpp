#include "runtime/session/RankThreads.h"

#include "runtime/support/SignalsBlocked.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>

namespace tessera {

using namespace std::chrono_literals;

struct RankThreads::State {
  std::mutex mutex;
  std::condition_variable wake, done;
  std::chrono::microseconds spin;
  std::shared_ptr<const Job> job; ///< a copy takes no memory
  std::atomic<uint64_t> round{0}; ///< written under the mutex
  int64_t pending = 0;
  bool stopping = false;
  std::vector<Status> results;

  /// Copies the job of round `number`. False: the threads stop.
  bool awaitJob(uint64_t number, std::shared_ptr<const Job> &copy) {
    using Clock = std::chrono::steady_clock;
    Clock::time_point end = Clock::now() + spin;
    while (round < number && Clock::now() < end)
      std::this_thread::yield();
    std::unique_lock<std::mutex> lock(mutex);
    wake.wait(lock, [&] { return stopping || round >= number; });
    copy = job;
    return round >= number;
  }

  /// Notifies outside of the mutex: a thread that wakes would wait for it.
  void finish(int64_t rank, Status status) {
    bool isLast;
    {
      std::lock_guard<std::mutex> lock(mutex);
      results[rank] = std::move(status);
      isLast = --pending == 0;
    }
    if (isLast)
      done.notify_all();
  }
};

RankThreads::RankThreads(int64_t ranks, const CorePlan &plan,
                         std::chrono::microseconds spin)
    : state(std::make_shared<State>()) {
  state->spin = spin;
  state->results.resize(ranks);
  SignalsBlocked blocked;
  try {
    for (int64_t rank = 0; rank < ranks; ++rank)
      threads.emplace_back(loop, state, rank,
                           plan.pinned.empty() ? std::vector<int>()
                                               : plan.pinned[rank]);
  } catch (const std::system_error &error) {
    size_t started = threads.size();
    stop();
    fail(TSR_OUT_OF_MEMORY, "cannot start the thread of rank ", started, " of ",
         ranks, ": ", error.what());
  } catch (...) {
    stop();
    throw;
  }
}

RankThreads::~RankThreads() { stop(); }

void RankThreads::stop() {
  bool stuck;
  {
    std::unique_lock<std::mutex> lock(state->mutex);
    state->stopping = true;
    state->wake.notify_all();
    stuck =
        !state->done.wait_for(lock, 2s, [&] { return state->pending == 0; });
  }
  for (std::thread &thread : threads)
    stuck ? thread.detach() : thread.join();
  threads.clear();
}

void RankThreads::loop(std::shared_ptr<State> state, int64_t rank,
                       std::vector<int> cores) {
  pinThread(cores);
  std::shared_ptr<const Job> job;
  for (uint64_t round = 1; state->awaitJob(round, job); ++round) {
    Status status;
    try {
      (*job)(rank);
    } catch (...) {
      status = currentStatus();
    }
    job = nullptr; // destroys here what it holds
    state->finish(rank, std::move(status));
  }
}

Status RankThreads::run(Job job, const std::function<bool(int64_t)> &giveUp) {
  auto shared = std::make_shared<const Job>(std::move(job));
  std::unique_lock<std::mutex> lock(state->mutex);
  if (state->pending != 0)
    return {TSR_ABORTED, "a rank's thread is still in an earlier step"};
  state->job = std::move(shared);
  state->pending = static_cast<int64_t>(threads.size());
  ++state->round;
  lock.unlock();
  state->wake.notify_all();
  lock.lock();
  auto finished = [&] { return state->pending == 0; };
  while (!state->done.wait_for(lock, giveUp ? 20ms : 1h, finished))
    if (giveUp && giveUp(state->pending))
      break;
  bool complete = finished();
  state->job = nullptr;
  if (!complete)
    return {TSR_TIMEOUT, "a rank's thread did not come back"};
  for (const Status &status : state->results)
    if (!status.ok())
      return status;
  return {};
}

} // namespace tessera
