//===- GroupBarrier.h - a barrier of one group of threads -------*- C++ -*-===//
// The barrier works in rounds: a round is complete when every member has
// arrived. What a member offers before it arrives is visible to all after the
// round, and stays so until it arrives again.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_THREAD_GROUPBARRIER_H
#define TESSERA_RUNTIME_COLLECTIVES_THREAD_GROUPBARRIER_H

#include "runtime/collectives/Communicator.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <vector>

namespace tessera {

/// A member's part of a collective.
struct Offer {
  const char *kind = ""; ///< "all_reduce", ...
  Collective call;
  int64_t root = 0;
  void *data = nullptr;        ///< the buffer that others read or write
  const void *order = nullptr; ///< a device's: when the buffer is ready
};

class GroupBarrier {
public:
  /// Makes a barrier; `ranks` are the global ranks of the members, in order.
  explicit GroupBarrier(std::vector<int64_t> ranks);

  const std::vector<int64_t> &ranks() const { return members; }
  int64_t size() const { return static_cast<int64_t>(members.size()); }
  int64_t indexOf(int64_t rank) const;
  Offer &offer(int64_t member) { return seats[member].offer; }

  /// Returns the number of the round, from 1.
  uint64_t arrive(int64_t member);
  bool complete(uint64_t round) const;
  bool hasArrived(int64_t member, uint64_t round) const;
  /// Sleeps until the round is complete or the time is over.
  void sleep(uint64_t round, std::chrono::milliseconds time);

private:
  struct alignas(64) Seat {
    std::atomic<uint64_t> arrivals{0};
    Offer offer;
  };
  std::vector<int64_t> members;
  std::deque<Seat> seats;
  std::atomic<int> sleepers{0};
  std::mutex mutex;
  std::condition_variable wake;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_COLLECTIVES_THREAD_GROUPBARRIER_H
