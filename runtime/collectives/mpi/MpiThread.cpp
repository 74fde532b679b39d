#include "runtime/collectives/mpi/MpiThread.h"

#include "runtime/support/SignalsBlocked.h"

#include <condition_variable>
#include <future>
#include <mutex>
#include <optional>
#include <thread>

namespace tessera {

namespace {
using Task = std::packaged_task<void()>;

class MpiThread {
public:
  MpiThread() {
    SignalsBlocked blocked;
    std::thread([this] { serve(); }).detach();
  }
  std::future<void> start(std::function<void()> call) {
    Task task(std::move(call));
    std::future<void> result = task.get_future();
    std::lock_guard<std::mutex> lock(mutex);
    next = std::move(task);
    hasCome.notify_one();
    return result;
  }

private:
  [[noreturn]] void serve() {
    while (true) {
      std::unique_lock<std::mutex> lock(mutex);
      hasCome.wait(lock, [this] { return next.has_value(); });
      Task task = std::move(*next);
      next.reset();
      lock.unlock();
      task();
    }
  }

  std::mutex mutex;
  std::condition_variable hasCome;
  std::optional<Task> next;
};
} // namespace

bool runInMpiThread(std::function<void()> call,
                    std::chrono::milliseconds timeout) {
  // It is never destroyed: its thread may still wait when the process ends.
  static auto *thread = new MpiThread;
  std::future<void> result = thread->start(std::move(call));
  if (result.wait_for(timeout) != std::future_status::ready)
    return false;
  result.get();
  return true;
}

} // namespace tessera
