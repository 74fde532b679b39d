#include "runtime/collectives/process/Reception.h"

#include "runtime/support/Status.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>

namespace tessera {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// Who has said nothing useful by then is no process of ours.
static constexpr std::chrono::seconds longestSilence{5};

void Reception::refuse(const Socket &socket, const std::string &why) {
  ++refused;
  lastRefusal = concat(peerHost(socket), ": ", why);
}

std::string Reception::describeRefused() const {
  if (refused == 0)
    return "";
  return concat("; ", refused,
                refused == 1 ? " connection was" : " connections were",
                " refused, the last from ", lastRefusal);
}

void Reception::drop(Pending &entry, const std::string &why) {
  refuse(entry.socket, why);
  entry.isDropped = true;
}

void Reception::take(const Socket &listener) {
  Socket socket = acceptFrom(listener, Clock::now());
  if (!socket)
    return;
  auto oldest =
      std::find_if(pending.begin(), pending.end(), [](const Pending &entry) {
        return !entry.isComplete && !entry.isDropped;
      });
  if (pending.size() >= limits.connections && oldest != pending.end())
    drop(*oldest,
         concat("it was silent, and ", limits.connections, " came after it"));
  pending.push_back({std::move(socket), Clock::now() + longestSilence, ""});
}

/// Reads what there is of the message, and no byte of what follows.
void Reception::pull(Pending &entry) {
  while (!entry.isComplete) {
    uint32_t length = 0;
    size_t wanted = sizeof length;
    if (entry.bytes.size() >= sizeof length) {
      std::memcpy(&length, entry.bytes.data(), sizeof length);
      if (length > limits.messageBytes)
        return drop(entry, concat("its message has ", length, " bytes, ",
                                  "at most ", limits.messageBytes,
                                  " are read; is it a process of Tessera?"));
      wanted += length;
    }
    char block[4096];
    size_t missing = std::min(wanted - entry.bytes.size(), sizeof block);
    entry.isComplete = missing == 0;
    if (entry.isComplete)
      return;
    ssize_t got = recv(entry.socket.get(), block, missing, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
      return;
    if (got <= 0)
      return drop(entry, "it closed before its message was whole");
    entry.bytes.append(block, static_cast<size_t>(got));
  }
}

/// Serves whoever is ready; false at the deadline.
bool Reception::wait(Deadline deadline) {
  std::vector<pollfd> entries;
  for (const Socket &listener : listeners)
    entries.push_back({listener.get(), POLLIN, 0});
  for (const Pending &entry : pending) {
    entries.push_back({entry.socket.get(), POLLIN, 0});
    deadline = std::min(deadline, entry.until);
  }
  int ready = poll(entries.data(), entries.size(), millisecondsUntil(deadline));
  if (ready < 0 && errno != EINTR)
    fail(TSR_IO, "waiting for processes: ", std::strerror(errno));
  if (ready <= 0)
    return false;
  auto entry = pending.begin();
  for (size_t i = listeners.size(); i < entries.size(); ++i, ++entry)
    if (entries[i].revents)
      pull(*entry);
  for (size_t i = 0; i < listeners.size(); ++i)
    if (entries[i].revents)
      take(listeners[i]);
  return true;
}

void Reception::dropLate() {
  for (Pending &entry : pending)
    if (!entry.isComplete && !entry.isDropped && Clock::now() >= entry.until)
      drop(entry, concat("it brought no message within ",
                         longestSilence.count(), " s"));
  pending.remove_if([](const Pending &entry) { return entry.isDropped; });
}

Visitor Reception::popComplete() {
  auto first =
      std::find_if(pending.begin(), pending.end(),
                   [](const Pending &entry) { return entry.isComplete; });
  if (first == pending.end())
    return {};
  Visitor visitor{std::move(first->socket),
                  first->bytes.substr(sizeof(uint32_t))};
  pending.erase(first);
  return visitor;
}

Visitor Reception::next(Deadline deadline) {
  while (true) {
    if (Visitor visitor = popComplete(); visitor.socket)
      return visitor;
    if (!wait(deadline) && Clock::now() >= deadline)
      return {};
    dropLate();
  }
}

} // namespace tessera
