#include "runtime/device/Background.h"

#include "runtime/support/SignalsBlocked.h"

#include <condition_variable>
#include <list>
#include <mutex>
#include <system_error>
#include <thread>

namespace tessera {

struct Background::State {
  struct Entry {
    int64_t op;
    const void *buffer;
    Job job;
    OpTrace *trace;
    Status status{}; ///< once it is finished
  };
  using Entries = std::list<Entry>;

  explicit State(std::unique_ptr<Communicator> communicator)
      : communicator(std::move(communicator)) {}

  std::unique_ptr<Communicator> communicator;
  std::mutex mutex;
  std::condition_variable wake, done;
  Entries queue;    ///< the first one runs
  Entries finished; ///< moved there without taking memory
  bool stopping = false;
  std::thread thread;
};

Background::Background(std::unique_ptr<Communicator> communicator, int64_t rank)
    : state(std::make_shared<State>(std::move(communicator))) {
  SignalsBlocked blocked;
  try {
    state->thread = std::thread(loop, state);
  } catch (const std::system_error &error) {
    fail(TSR_OUT_OF_MEMORY, "cannot start the communication thread of rank ",
         rank, ": ", error.what());
  }
}

Background::~Background() {
  std::thread thread;
  {
    std::lock_guard<std::mutex> lock(state->mutex);
    state->stopping = true;
    thread = std::move(state->thread);
    state->wake.notify_all();
  }
  thread.join();
}

void Background::start(int64_t op, const void *buffer, Job job,
                       OpTrace *trace) {
  std::lock_guard<std::mutex> lock(state->mutex);
  state->queue.push_back({op, buffer, std::move(job), trace});
  state->wake.notify_all();
}

Status Background::wait(const void *buffer) {
  std::unique_lock<std::mutex> lock(state->mutex);
  auto isQueued = [&] {
    for (const State::Entry &entry : state->queue)
      if (entry.buffer == buffer)
        return true;
    return false;
  };
  state->done.wait(lock, [&] { return !isQueued(); });
  for (auto entry = state->finished.begin(); entry != state->finished.end();
       ++entry) {
    if (entry->buffer != buffer)
      continue;
    Status status = std::move(entry->status);
    state->finished.erase(entry);
    return status;
  }
  return {TSR_INTERNAL, "waits for what was not started"};
}

void Background::drain() {
  std::unique_lock<std::mutex> lock(state->mutex);
  state->done.wait(lock, [&] { return state->queue.empty(); });
  state->finished.clear();
}

void Background::loop(const std::shared_ptr<State> &state) {
  std::unique_lock<std::mutex> lock(state->mutex);
  while (true) {
    state->wake.wait(lock,
                     [&] { return state->stopping || !state->queue.empty(); });
    if (state->queue.empty())
      return;
    State::Entry &entry = state->queue.front(); // stays where it is
    lock.unlock();
    {
      TracedOp traced(entry.trace, entry.op);
      try {
        entry.status = entry.job(*state->communicator);
      } catch (...) {
        entry.status = currentStatus();
      }
    }
    lock.lock();
    state->finished.remove_if([&](const State::Entry &earlier) {
      return earlier.buffer == entry.buffer;
    });
    state->finished.splice(state->finished.end(), state->queue,
                           state->queue.begin());
    state->done.notify_all();
  }
}

} // namespace tessera
