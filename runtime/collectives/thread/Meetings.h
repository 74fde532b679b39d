//===- Meetings.h - how one rank's thread meets its groups ------*- C++ -*-===//
// A collective between threads is two meetings: behind the first all buffers
// are ready and all ranks are known to call the same, behind the second nobody
// needs the others' buffers any more.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_THREAD_MEETINGS_H
#define TESSERA_RUNTIME_COLLECTIVES_THREAD_MEETINGS_H

#include "runtime/collectives/thread/ThreadWorld.h"

namespace tessera {

class Meetings {
public:
  Meetings(ThreadWorld &world, int64_t rank, Lane lane = Lane::Program);

  struct Seat {
    Rendezvous *group = nullptr;
    int64_t member = 0;
    bool isChannel = false; ///< of messages: member 0 sends, member 1 receives

    int64_t size() const { return group->size(); }
    std::vector<const void *> offeredData() const;
  };
  Seat seatOf(int64_t axes);
  Seat channelTo(int64_t peer) { return {&world.channel(rank, peer), 0, true}; }
  Seat channelFrom(int64_t peer) {
    return {&world.channel(peer, rank), 1, true};
  }
  /// Aborts the world if there is no such peer.
  Status check(const Message &message);
  static Offer offerOf(const char *kind, const Message &message, void *data);
  /// First meeting. Aborts the world if the call is illegal or not everyone's.
  Status open(const Seat &seat, const Offer &offer);
  /// Second meeting.
  Status close(const Seat &seat);

private:
  Status checkOffers(const Seat &seat) const;
  Status checkMessage(const Seat &seat) const;
  Wait waitAt(const Seat &seat) const;

  ThreadWorld &world;
  int64_t rank;
  Lane lane;
  std::map<int64_t, Seat> seats; ///< by set of axes
};

} // namespace tessera

#endif // TESSERA_RUNTIME_COLLECTIVES_THREAD_MEETINGS_H
