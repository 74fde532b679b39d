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

// A process that knows the secret has more time, as its machine may be busy.
static constexpr std::chrono::milliseconds longestThought{60000};
// Connections that are taken before those that are open are served again.
static constexpr int takenAtOnce = 64;

void Reception::refuse(Refusal kind, const Socket &socket,
                       const std::string &why) {
  refusals.record(kind, peerHost(socket), why);
}

void Reception::drop(Pending &entry, Refusal kind, const std::string &why) {
  refuse(kind, entry.socket, why);
  entry.isDropped = true;
}

void Reception::forgetDropped() {
  pending.remove_if([](const Pending &entry) { return entry.isDropped; });
}

/// Drops the stranger that has shown least. Returns false if there is none.
bool Reception::dropForRoom(const std::string &why) {
  auto last = pending.end();
  for (auto entry = pending.begin(); entry != pending.end(); ++entry)
    if (entry->mayGo() && (last == pending.end() || entry->stage < last->stage))
      last = entry;
  if (last == pending.end())
    return false;
  drop(*last, Refusal::Crowd, why);
  pending.erase(last); // its descriptor is needed
  return true;
}

/// Drops the strangers with the longest texts until the others' fit.
void Reception::dropForMemory() {
  size_t all = 0;
  for (const Pending &entry : pending)
    all += entry.mayGo() ? entry.bytes.size() : 0;
  while (all > limits.allBytes) {
    auto longest = std::max_element(pending.begin(), pending.end(),
                                    [](const Pending &a, const Pending &b) {
                                      return (a.mayGo() ? a.bytes.size() : 0) <
                                             (b.mayGo() ? b.bytes.size() : 0);
                                    });
    all -= longest->bytes.size();
    drop(*longest, Refusal::Crowd,
         concat("its message was the longest of too many, ",
                longest->bytes.size(), " bytes so far"));
  }
}

static bool isOutOfDescriptors(int code) {
  return code == EMFILE || code == ENFILE || code == ENOBUFS || code == ENOMEM;
}

/// Returns false if nobody waits to be taken.
bool Reception::takeOne(const Socket &listener) {
  Pending entry;
  entry.socket = acceptNow(listener);
  if (!entry.socket) {
    int code = errno;
    if (!isOutOfDescriptors(code))
      return code != EAGAIN && code != EWOULDBLOCK;
    if (!dropForRoom("it was silent, and this process may open no more files"))
      fail(TSR_IO, "cannot take a connection: ", std::strerror(code),
           "; raise the limit of open files (ulimit -n)");
    return true;
  }
  if (pending.size() >= limits.connections)
    dropForRoom(
        concat("it was silent, and ", limits.connections, " came after it"));
  entry.until = Clock::now() + limits.silence;
  pending.push_back(std::move(entry));
  return true;
}

void Reception::take(const Socket &listener) {
  for (int taken = 0; taken < takenAtOnce && takeOne(listener); ++taken) {
  }
}

void Reception::answerOpening(Pending &entry) {
  std::memcpy(&entry.theirs, entry.bytes.data(), sizeof entry.theirs);
  entry.own = openingFor(secret);
  sendAll(entry.socket, &entry.own, sizeof entry.own, Clock::now());
  if (entry.theirs.hasSecret != entry.own.hasSecret)
    return drop(entry, Refusal::Secret,
                secret ? "it has no secret"
                       : "it has a secret, this process has none");
  entry.stage = secret ? Stage::Proof : Stage::Length;
  entry.wanted = secret ? sizeof(Digest) : sizeof(uint32_t);
}

void Reception::answerProof(Pending &entry) {
  Digest proof;
  std::memcpy(proof.data(), entry.bytes.data(), proof.size());
  entry.hasProven =
      isSame(proof, proofOf(secret, Side::Caller, entry.theirs, entry.own));
  if (!entry.hasProven) // told here before the other side can say it
    drop(entry, Refusal::Secret, "it has another secret");
  Digest answer = entry.hasProven
                      ? proofOf(secret, Side::Called, entry.theirs, entry.own)
                      : noProof();
  sendAll(entry.socket, answer.data(), answer.size(), Clock::now());
  entry.until = Clock::now() + longestThought;
  entry.stage = Stage::Length;
  entry.wanted = sizeof(uint32_t);
}

void Reception::takeLength(Pending &entry) {
  uint32_t length = 0;
  std::memcpy(&length, entry.bytes.data(), sizeof length);
  if (length > limits.messageBytes)
    return drop(entry, Refusal::Message,
                concat("its message has ", length, " bytes, at most ",
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

/// Reads the bytes that have come, up to the end of the message. A byte that no
/// process of ours sends is enough to drop the connection.
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
      return drop(entry, Refusal::Broken,
                  "it closed before its message was whole");
    entry.bytes.append(block, static_cast<size_t>(got));
    if (entry.stage == Stage::Opening && !beginsOpening(entry.bytes))
      return drop(entry, Refusal::Foreign,
                  "it is no process of this version of Tessera");
  }
}

/// A stranger that breaks off harms nobody.
void Reception::serve(Pending &entry) {
  try {
    pull(entry);
  } catch (const Error &error) {
    drop(entry, Refusal::Broken, error.status.message);
  }
}

/// Serves whoever is ready before the deadline.
void Reception::wait(Deadline deadline) {
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
    return;
  auto entry = pending.begin();
  for (size_t i = listeners.size(); i < entries.size(); ++i, ++entry)
    if (entries[i].revents)
      serve(*entry);
  dropForMemory();
  forgetDropped();
  for (size_t i = 0; i < listeners.size(); ++i)
    if (entries[i].revents)
      take(listeners[i]);
}

void Reception::dropLate() {
  for (Pending &entry : pending)
    if (!entry.isComplete && !entry.isDropped && Clock::now() >= entry.until)
      drop(entry, Refusal::Late,
           concat("it brought no message within ",
                  (entry.hasProven ? longestThought : limits.silence).count(),
                  " ms"));
  forgetDropped();
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
  Visitor visitor = popComplete();
  for (bool isLate = false; !visitor.socket && !isLate;) {
    isLate = Clock::now() >= deadline; // those that are ready are served first
    wait(deadline);
    dropLate();
    visitor = popComplete();
  }
  return visitor;
}

} // namespace tessera
