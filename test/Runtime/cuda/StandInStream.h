//===- StandInStream.h - CUDA's streams and events on host threads --------===//
// For StandIn.cpp: a stream is a thread that runs a queue, at times late, so
// that work that is not ordered by events is caught out of order.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_TEST_RUNTIME_CUDA_STANDINSTREAM_H
#define TESSERA_TEST_RUNTIME_CUDA_STANDINSTREAM_H

#include "test/Runtime/cuda/StandInControl.h"

#include <chrono>
#include <condition_variable>
#include <cuda_runtime_api.h>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

/// Set once; what an event's record is.
class Flag {
public:
  void set() {
    std::lock_guard<std::mutex> lock(mutex);
    isSet = true;
    time = std::chrono::steady_clock::now();
    changed.notify_all();
  }
  void wait() {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return isSet; });
  }

  /// Returns when it was set, which it is.
  std::chrono::steady_clock::time_point setAt() {
    std::lock_guard<std::mutex> lock(mutex);
    return time;
  }

private:
  std::mutex mutex;
  std::condition_variable changed;
  bool isSet = false;
  std::chrono::steady_clock::time_point time;
};

using Work = std::function<void()>;
using WorkList = std::vector<Work>;

struct CUstream_st;

struct CUevent_st {
  std::shared_ptr<Flag> latest;
  CUstream_st *capture = nullptr; ///< the stream whose capture recorded it
  bool isTimed = false;
};

struct CUstream_st {
  CUstream_st() : thread([this] { loop(); }) {}
  ~CUstream_st() {
    push(nullptr);
    thread.join();
  }

  /// Adds work. While capturing, it is only listed: in the list of the stream
  /// that began, in the order of the calls, which is one that the events allow.
  void push(Work work) {
    if (capture && work)
      return capture->captured.push_back(std::move(work));
    if (standInIsIdle() && work)
      return; // a GPU that does nothing is done at once
    std::lock_guard<std::mutex> lock(mutex);
    queue.push_back(std::move(work));
    changed.notify_all();
  }
  bool isIdle() {
    std::lock_guard<std::mutex> lock(mutex);
    return queue.empty();
  }
  void synchronize() {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return queue.empty(); });
  }

  /// The stream that began it; also another one.
  CUstream_st *capture = nullptr;
  WorkList captured;

private:
  void loop() {
    std::mt19937 random(reinterpret_cast<uintptr_t>(this) / 64);
    while (true) {
      std::unique_lock<std::mutex> lock(mutex);
      changed.wait(lock, [&] { return !queue.empty(); });
      Work work = queue.front();
      lock.unlock();
      if (!work)
        return;
      if (random() % 8 == 0)
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 100));
      work();
      lock.lock();
      queue.pop_front();
      changed.notify_all();
    }
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Work> queue;
  std::thread thread;
};

#endif // TESSERA_TEST_RUNTIME_CUDA_STANDINSTREAM_H
