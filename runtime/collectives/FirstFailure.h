//===- FirstFailure.h - the failure that all ranks report -------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_FIRSTFAILURE_H
#define TESSERA_RUNTIME_COLLECTIVES_FIRSTFAILURE_H

#include "runtime/support/Status.h"

#include <atomic>
#include <mutex>

namespace tessera {

/// The first status that is recorded stays. Any thread.
class FirstFailure {
public:
  /// Records a failure; returns whether it is the first.
  bool record(const Status &status) noexcept {
    std::lock_guard<std::mutex> lock(mutex);
    if (hasFailed.load())
      return false;
    first = copyOf(status);
    hasFailed.store(true, std::memory_order_release);
    return true;
  }
  bool failed() const { return hasFailed.load(std::memory_order_acquire); }
  Status get() const noexcept {
    if (!failed())
      return {};
    std::lock_guard<std::mutex> lock(mutex);
    return copyOf(first);
  }

private:
  std::atomic<bool> hasFailed{false};
  mutable std::mutex mutex;
  Status first;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_COLLECTIVES_FIRSTFAILURE_H
