#include "runtime/collectives/thread/RankMessages.h"

#include "runtime/collectives/Reduce.h"
#include "runtime/collectives/thread/RankBarriers.h"
#include "runtime/support/ThreadTeam.h"

#include <algorithm>
#include <cstring>

namespace tessera {

using Clock = std::chrono::steady_clock;

namespace {
const char *nameOf(PostedMessage::Side side) {
  return side == PostedMessage::Sender ? "send" : "receive";
}

std::string wayOf(const MessageChannel &channel) {
  return describeWay(channel.ranks()[PostedMessage::Sender],
                     channel.ranks()[PostedMessage::Receiver]);
}

/// Describes a message for diagnostics.
Offer offerOf(const PostedMessage &message) {
  return RankBarriers::offerOf(nameOf(message.side), message.message,
                               message.data);
}

class AwaitedMessage final : public Awaited {
public:
  AwaitedMessage(MessageChannel &channel, const PostedMessage &own)
      : channel(channel), own(own) {}

  const std::vector<int64_t> &ranks() const override { return channel.ranks(); }
  bool isComplete() const override { return own.isDone.load(); }
  bool hasArrived(size_t member) const override {
    return member == own.side || own.isMatched.load();
  }
  void sleep(std::chrono::milliseconds time) const override {
    channel.sleep(own, time);
  }
  std::string describe(const ThreadWorldOptions &options) const override {
    return concat(describeCall(offerOf(own), options.describeOp), " ",
                  wayOf(channel));
  }

private:
  MessageChannel &channel;
  const PostedMessage &own;
};
} // namespace

MessageChannel &RankMessages::channelOf(PostedMessage::Side side,
                                        int64_t peer) {
  return side == PostedMessage::Sender ? world.channel(rank, peer)
                                       : world.channel(peer, rank);
}

/// Copies from the sender's side to the receiver's.
void RankMessages::copy(PostedMessage &own, PostedMessage &other) {
  bool sends = own.side == PostedMessage::Sender;
  const char *from = static_cast<const char *>(sends ? own.data : other.data);
  char *to = static_cast<char *>(sends ? other.data : own.data);
  own.begin = other.begin = Clock::now();
  const int64_t bytes = own.message.bytes;
  const int64_t pieces = std::clamp<int64_t>(bytes / threadBytes, 1, threads);
  inParallel(static_cast<int>(pieces), [&](int64_t piece) {
    int64_t begin = bytes * piece / pieces;
    std::memcpy(to + begin, from + begin, bytes * (piece + 1) / pieces - begin);
  });
  own.end = other.end = Clock::now();
}

std::shared_ptr<PostedMessage> RankMessages::post(PostedMessage::Side side,
                                                  const Message &message,
                                                  void *data) {
  auto own = std::make_shared<PostedMessage>(side, message, data);
  if (!world.check(rank, message).ok())
    return own;
  if (lane == Lane::Program)
    world.reached(rank, message.op);
  MessageChannel &channel = channelOf(side, message.peer);
  std::shared_ptr<PostedMessage> other = channel.post(own);
  if (!other)
    return own;
  if (message.bytes != other->message.bytes)
    world.abort({TSR_INTERNAL, describeLengths(wayOf(channel), offerOf(*own),
                                               offerOf(*other))});
  else
    copy(*own, *other);
  channel.complete(*own, *other);
  return own;
}

Status RankMessages::finish(const PostedMessage &own) {
  if (world.failed()) // it may not have been posted
    return world.failure();
  if (lane == Lane::Program)
    world.reached(rank, own.message.op);
  Status status =
      world.waitFor(AwaitedMessage(channelOf(own.side, own.message.peer), own),
                    lane == Lane::Program);
  // Sizes that differ fail the world.
  return status.ok() ? world.failure() : status;
}

} // namespace tessera
