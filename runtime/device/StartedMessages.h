//===- StartedMessages.h - messages that end by themselves ------*- C++ -*-===//
// Holds the messages that a rank's program started and has not waited for, on
// communicators that need no thread for them. Calls come from the rank's
// thread.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_DEVICE_STARTEDMESSAGES_H
#define TESSERA_RUNTIME_DEVICE_STARTEDMESSAGES_H

#include "runtime/collectives/Communicator.h"
#include "runtime/device/Trace.h"

#include <optional>

namespace tessera {

class StartedMessages {
public:
  /// `buffer` names the message until it is waited for.
  void add(int64_t op, const void *buffer,
           std::shared_ptr<StartedMessage> message) {
    entries.push_back({op, buffer, std::move(message)});
  }
  /// Waits until the message of that buffer is done; nullopt: there is none.
  /// `trace` may be null.
  std::optional<Status> wait(const void *buffer, Communicator &communicator,
                             OpTrace *trace);
  /// Forgets those of a step that failed.
  void clear() { entries.clear(); }

private:
  struct Entry {
    int64_t op;
    const void *buffer;
    std::shared_ptr<StartedMessage> message;
  };
  std::vector<Entry> entries;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_DEVICE_STARTEDMESSAGES_H
