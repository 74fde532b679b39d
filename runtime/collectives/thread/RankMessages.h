//===- RankMessages.h - the messages of one rank's thread -------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_THREAD_RANKMESSAGES_H
#define TESSERA_RUNTIME_COLLECTIVES_THREAD_RANKMESSAGES_H

#include "runtime/collectives/thread/ThreadWorld.h"

namespace tessera {

class RankMessages {
public:
  /// `threads`: of a rank, for copying.
  RankMessages(ThreadWorld &world, int64_t rank, Lane lane, int threads)
      : world(world), rank(rank), lane(lane), threads(threads) {}

  /// Copies if the other side is there. Aborts the world if there is no such
  /// peer, or if the two sides do not agree on the bytes.
  std::shared_ptr<PostedMessage> post(PostedMessage::Side side,
                                      const Message &message, void *data);
  /// Waits until the receiver has the data.
  Status finish(const PostedMessage &own);

private:
  MessageChannel &channelOf(PostedMessage::Side side, int64_t peer);
  void copy(PostedMessage &own, PostedMessage &other);

  ThreadWorld &world;
  int64_t rank;
  Lane lane;
  int threads;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_COLLECTIVES_THREAD_RANKMESSAGES_H
