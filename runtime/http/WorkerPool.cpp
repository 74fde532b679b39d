//===- WorkerPool.cpp - the threads that handlers run on ------------------===//

#include "runtime/http/WorkerPool.h"
#include <system_error>
#include <utility>

using namespace tessera::http;

bool WorkerPool::add(Work work) {
  std::lock_guard<std::mutex> lock(mutex);
  if (isEnding || waiting.size() >= mostWaiting + idle)
    return false;
  if (waiting.size() >= idle && threads.size() < mostThreads) {
    try {
      threads.emplace_back([this] { run(); });
    } catch (const std::system_error &) {
      if (threads.empty())
        return false;
    }
  }
  waiting.push_back(std::move(work));
  hasWork.notify_one();
  return true;
}

void WorkerPool::run() {
  std::unique_lock<std::mutex> lock(mutex);
  while (!isEnding) {
    if (waiting.empty()) {
      ++idle;
      hasWork.wait(lock, [&] { return isEnding || !waiting.empty(); });
      --idle;
      continue;
    }
    Work work = std::move(waiting.front());
    waiting.pop_front();
    lock.unlock();
    work();
    work = nullptr;
    lock.lock();
  }
}

void WorkerPool::join() {
  std::deque<Work> dropped;
  {
    std::lock_guard<std::mutex> lock(mutex);
    isEnding = true;
    dropped.swap(waiting);
  }
  hasWork.notify_all();
  for (std::thread &thread : threads)
    thread.join();
  threads.clear();
}
