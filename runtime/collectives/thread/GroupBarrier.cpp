#include "runtime/collectives/thread/GroupBarrier.h"

#include <algorithm>

namespace tessera {

GroupBarrier::GroupBarrier(std::vector<int64_t> ranks)
    : members(std::move(ranks)), seats(members.size()) {}

int64_t GroupBarrier::indexOf(int64_t rank) const {
  return std::find(members.begin(), members.end(), rank) - members.begin();
}

// The last member to arrive sees all arrivals; it and a member that goes to
// sleep write one counter each and read the other's: all sequentially
// consistent, so one of the two notices.
uint64_t GroupBarrier::arrive(int64_t member) {
  uint64_t round = seats[member].arrivals.fetch_add(1) + 1;
  if (sleepers.load() != 0 && complete(round)) {
    std::lock_guard<std::mutex> lock(mutex);
    wake.notify_all();
  }
  return round;
}

bool GroupBarrier::hasArrived(int64_t member, uint64_t round) const {
  return seats[member].arrivals.load() >= round;
}

bool GroupBarrier::complete(uint64_t round) const {
  for (const Seat &seat : seats)
    if (seat.arrivals.load() < round)
      return false;
  return true;
}

void GroupBarrier::sleep(uint64_t round, std::chrono::milliseconds time) {
  std::unique_lock<std::mutex> lock(mutex);
  sleepers.fetch_add(1);
  wake.wait_for(lock, time, [&] { return complete(round); });
  sleepers.fetch_sub(1);
}

} // namespace tessera
