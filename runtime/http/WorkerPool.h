//===- WorkerPool.h - the threads that handlers run on ----------*- C++ -*-===//

#ifndef TESSERA_RUNTIME_HTTP_WORKERPOOL_H
#define TESSERA_RUNTIME_HTTP_WORKERPOOL_H

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tessera::http {

/// Threads are started when there is work for them.
class WorkerPool {
public:
  using Work = std::function<void()>;

  WorkerPool(int mostThreads, int mostWaiting)
      : mostThreads(mostThreads), mostWaiting(mostWaiting) {}
  ~WorkerPool() { join(); }

  /// Returns false if too much waits, or no thread can be started.
  bool add(Work work);
  /// Waits for what runs; what has not begun is dropped, as is what is added.
  void join();

private:
  void run();

  const std::size_t mostThreads, mostWaiting;
  std::mutex mutex;
  std::condition_variable hasWork;
  std::deque<Work> waiting;
  std::vector<std::thread> threads;
  std::size_t idle = 0; ///< Threads without work.
  bool isEnding = false;
};

} // namespace tessera::http

#endif // TESSERA_RUNTIME_HTTP_WORKERPOOL_H
