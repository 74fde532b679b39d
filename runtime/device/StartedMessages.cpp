#include "runtime/device/StartedMessages.h"

#include <algorithm>

namespace tessera {

std::optional<Status> StartedMessages::wait(const void *buffer,
                                            Communicator &communicator,
                                            OpTrace *trace) {
  auto found =
      std::find_if(entries.begin(), entries.end(),
                   [&](const Entry &entry) { return entry.buffer == buffer; });
  if (found == entries.end())
    return std::nullopt;
  Entry entry = std::move(*found);
  entries.erase(found);
  Status status = communicator.finish(*entry.message);
  if (status.ok() && trace)
    trace->add({entry.op, entry.message->begin, entry.message->end, 0});
  return status;
}

} // namespace tessera
