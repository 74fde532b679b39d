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
  Pending entry;
  entry.socket = std::move(socket);
  entry.until = Clock::now() + longestSilence;
  pending.push_back(std::move(entry));
}

void Reception::answerOpening(Pending &entry) {
  std::memcpy(&entry.theirs, entry.bytes.data(), sizeof entry.theirs);
  if (!isOpening(entry.theirs))
    return drop(entry, "it is no process of this version of Tessera");
  entry.own = openingFor(secret);
  sendAll(entry.socket, &entry.own, sizeof entry.own, Clock::now());
  if (entry.theirs.hasSecret != entry.own.hasSecret)
    return drop(entry, secret ? "it has no secret"
                              : "it has a secret, this process has none");
  entry.stage = secret ? Stage::Proof : Stage::Length;
  entry.wanted = secret ? sizeof(Digest) : sizeof(uint32_t);
}

void Reception::answerProof(Pending &entry) {
  Digest proof;
  std::memcpy(proof.data(), entry.bytes.data(), proof.size());
  if (!isSame(proof, proofOf(secret, Side::Caller, entry.theirs, entry.own)))
    return drop(entry, "it has another secret");
  proof = proofOf(secret, Side::Called, entry.theirs, entry.own);
  sendAll(entry.socket, proof.data(), proof.size(), Clock::now());
  entry.stage = Stage::Length;
  entry.wanted = sizeof(uint32_t);
}

void Reception::takeLength(Pending &entry) {
  uint32_t length = 0;
  std::memcpy(&length, entry.bytes.data(), sizeof length);
  if (length > limits.messageBytes)
    return drop(entry, concat("its message has ", length, " bytes, at most ",
                              limits.messageBytes, " are read"));
  entry.stage = Stage::Message;
  entry.wanted = length;
}

/// The bytes of a stage have come.
void Reception::advance(Pending &entry) {
  switch (entry.stage) {
  case Stage::Opening:
    answerOpening(entry);
    break;
  case Stage::Proof:
    answerProof(entry);
    break;
  case Stage::Length:
    takeLength(entry);
    break;
  case Stage::Message:
    entry.isComplete = true;
    return;
  }
  entry.bytes.clear();
}

/// Reads what there is, and no byte of what follows the message.
void Reception::pull(Pending &entry) {
  while (!entry.isComplete && !entry.isDropped) {
    char block[4096];
    size_t missing = std::min(entry.wanted - entry.bytes.size(), sizeof block);
    if (missing == 0) {
      advance(entry);
      continue;
    }
    ssize_t got = recv(entry.socket.get(), block, missing, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
      return;
    if (got <= 0)
      return drop(entry, "it closed before its message was whole");
    entry.bytes.append(block, static_cast<size_t>(got));
  }
}

/// A stranger that breaks off harms nobody.
void Reception::serve(Pending &entry) {
  try {
    pull(entry);
  } catch (const Error &error) {
    drop(entry, error.status.message);
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
      serve(*entry);
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
  Visitor visitor{std::move(first->socket), std::move(first->bytes)};
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
