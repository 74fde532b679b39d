//===- RankBarriers.h - the barriers of one rank's thread -------*- C++ -*-===//
// Each collective between threads has an entry and an exit barrier. After the
// entry barrier all buffers are ready and all ranks are known to make the same
// call. After the exit barrier nobody needs the others' buffers any more.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_THREAD_RANKBARRIERS_H
#define TESSERA_RUNTIME_COLLECTIVES_THREAD_RANKBARRIERS_H

#include "runtime/collectives/thread/ThreadWorld.h"

namespace tessera {

class RankBarriers {
public:
  RankBarriers(ThreadWorld &world, int64_t rank, Lane lane = Lane::Program);

  struct Seat {
    GroupBarrier *group = nullptr;
    int64_t member = 0;
    bool isChannel = false; ///< for messages: member 0 sends, member 1 receives

    int64_t size() const { return group->size(); }
    std::vector<const void *> offeredData() const;
    /// Returns the members' sources of call number `k` of a coalesced one.
    std::vector<const void *> offeredSources(size_t k) const;
  };
  Seat seatOf(int64_t axes);
  /// Returns the seat for messages that both ranks wait for: a device's, which
  /// orders them.
  Seat channelTo(int64_t peer) {
    return {&world.channelBarrier(rank, peer), 0, true};
  }
  Seat channelFrom(int64_t peer) {
    return {&world.channelBarrier(peer, rank), 1, true};
  }
  Status check(const Message &message) { return world.check(rank, message); }
  static Offer offerOf(const char *kind, const Message &message, void *data);
  /// Makes an offer; `what` is read by the others until all have left.
  static Offer offerOf(const char *kind, const Coalesced &what);
  /// Passes the entry barrier. Aborts the world if the call is illegal or
  /// differs from another member's.
  Status enter(const Seat &seat, const Offer &offer);
  /// Passes the exit barrier.
  Status leave(const Seat &seat);

private:
  Status checkOffers(const Seat &seat) const;
  Status checkMessage(const Seat &seat) const;
  /// Arrives and waits for the others.
  Status meet(const Seat &seat);

  ThreadWorld &world;
  int64_t rank;
  Lane lane;
  std::map<int64_t, Seat> seats; ///< one for each set of axes
};

} // namespace tessera

#endif // TESSERA_RUNTIME_COLLECTIVES_THREAD_RANKBARRIERS_H
