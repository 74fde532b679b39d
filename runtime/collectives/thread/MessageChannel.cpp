#include "runtime/collectives/thread/MessageChannel.h"

namespace tessera {

std::shared_ptr<PostedMessage>
MessageChannel::post(const std::shared_ptr<PostedMessage> &own) {
  std::lock_guard<std::mutex> lock(mutex);
  if (waiting.empty() || waiting.front()->side == own->side) {
    waiting.push_back(own);
    return nullptr;
  }
  std::shared_ptr<PostedMessage> other = std::move(waiting.front());
  waiting.pop_front();
  own->isMatched = other->isMatched = true;
  return other;
}

void MessageChannel::complete(PostedMessage &one, PostedMessage &other) {
  std::lock_guard<std::mutex> lock(mutex);
  one.isDone = other.isDone = true;
  wake.notify_all();
}

void MessageChannel::sleep(const PostedMessage &own,
                           std::chrono::milliseconds time) {
  std::unique_lock<std::mutex> lock(mutex);
  wake.wait_for(lock, time, [&] { return own.isDone.load(); });
}

} // namespace tessera
