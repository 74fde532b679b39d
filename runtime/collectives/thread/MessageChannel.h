//===- MessageChannel.h - messages between two threads ----------*- C++ -*-===//
// From one rank to another, in order. A rank posts its side of a message and
// goes on; the rank whose side comes second copies. So a message needs no
// thread of its own, and waits for no other message.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_THREAD_MESSAGECHANNEL_H
#define TESSERA_RUNTIME_COLLECTIVES_THREAD_MESSAGECHANNEL_H

#include "runtime/collectives/Communicator.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>

namespace tessera {

/// One side of a message.
struct PostedMessage final : StartedMessage {
  enum Side : size_t { Sender, Receiver };

  PostedMessage(Side side, const Message &message, void *data)
      : side(side), message(message), data(data) {}

  const Side side;
  const Message message;
  void *const data; ///< the sender's are only read
  /// The other side has come; the receiver has the data.
  std::atomic<bool> isMatched{false}, isDone{false};
};

class MessageChannel {
public:
  MessageChannel(int64_t sender, int64_t receiver) : ends{sender, receiver} {}

  /// Returns the ranks, by side.
  const std::vector<int64_t> &ranks() const { return ends; }

  /// The other side of the message if it is there: the caller copies, and calls
  /// `complete`. Else `own` waits for it.
  std::shared_ptr<PostedMessage>
  post(const std::shared_ptr<PostedMessage> &own);
  void complete(PostedMessage &one, PostedMessage &other);
  /// Sleeps until the message is done or the time is over.
  void sleep(const PostedMessage &own, std::chrono::milliseconds time);

private:
  std::vector<int64_t> ends;
  std::mutex mutex;
  std::condition_variable wake;
  std::deque<std::shared_ptr<PostedMessage>> waiting; ///< all of one side
};

} // namespace tessera

#endif // TESSERA_RUNTIME_COLLECTIVES_THREAD_MESSAGECHANNEL_H
