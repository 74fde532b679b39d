#include "runtime/collectives/process/ProcessWorld.h"

#include "runtime/support/SignalsBlocked.h"

#include <poll.h>
#include <sys/socket.h>

namespace tessera {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

namespace {
// The listener looks up this often whether it shall stop.
constexpr int napMs = 50;
// A message on a control connection is short: who does not read it is stuck.
constexpr std::chrono::seconds patience{2};
// What a diagnosis waits for a busy process to say where it is.
constexpr std::chrono::milliseconds answerTime{500};
// What the end of a healthy session waits for the others.
constexpr std::chrono::seconds goodbyeTime{10};

enum Kind : int64_t { Failed, Where, Here, Goodbye };
} // namespace

struct ProcessWorld::Message {
  int64_t kind = 0;
  int64_t code = 0;                       ///< Failed: a tsr_status
  int64_t op = -1, inside = 0, round = 0; ///< Here
  int64_t sent[2] = {0, 0};               ///< Here, by lane
  int64_t textBytes = 0;
};

ProcessWorld::ProcessWorld(ProcessLinks given, ProcessWorldOptions options)
    : links(std::move(given)), settings(std::move(options)),
      others(links.peers.size()) {
  SignalsBlocked blocked;
  listener = std::thread([this] { listen(); });
}

ProcessWorld::~ProcessWorld() {
  own.inside.store(false);
  for (size_t peer = 0; peer < others.size(); ++peer) {
    tellFailure(static_cast<int64_t>(peer));
    Message goodbye{Goodbye};
    goodbye.round = INT64_MAX;
    for (int lane : {0, 1})
      goodbye.sent[lane] = others[peer].sent[lane].load();
    tell(static_cast<int64_t>(peer), goodbye, "");
  }
  if (!failed())
    waitForGoodbyes();
  stopping.store(true);
  listener.join();
}

void ProcessWorld::waitForGoodbyes() const {
  Deadline deadline = Clock::now() + goodbyeTime;
  auto all = [&] {
    for (size_t peer = 0; peer < others.size(); ++peer)
      if (links.peers[peer].control && !others[peer].gone.load())
        return false;
    return true;
  };
  while (!all() && !failed() && Clock::now() < deadline)
    std::this_thread::sleep_for(1ms);
}

void ProcessWorld::entered() {
  own.op.store(-1);
  ++own.round;
  own.inside.store(true);
}

/// Best effort: a peer that cannot be told is gone, and noticed as such.
void ProcessWorld::tell(int64_t peer, const Message &message,
                        const std::string &text) {
  const Socket &socket = links.peers[peer].control;
  // Who said goodbye still waits for ours.
  if (!socket || (others[peer].gone.load() && !others[peer].goodbye.load()))
    return;
  Message sent = message;
  sent.textBytes = static_cast<int64_t>(text.size());
  std::string bytes(reinterpret_cast<const char *>(&sent), sizeof sent);
  bytes += text;
  std::lock_guard<std::mutex> lock(telling);
  try {
    sendAll(socket, bytes.data(), bytes.size(), Clock::now() + patience);
  } catch (const Error &) {
  }
}

/// A peer must not take for the cause that this rank gave up.
void ProcessWorld::tellFailure(int64_t peer) {
  if (failed())
    tell(peer, {Failed, failure().code}, failure().message);
}

void ProcessWorld::abort(const Status &status) {
  if (!first.record(status))
    return;
  for (size_t peer = 0; peer < others.size(); ++peer)
    tellFailure(static_cast<int64_t>(peer));
}

void ProcessWorld::listen() {
  while (!stopping.load()) {
    std::vector<pollfd> entries;
    std::vector<int64_t> peers;
    for (size_t peer = 0; peer < others.size(); ++peer) {
      if (!links.peers[peer].control || others[peer].gone.load())
        continue;
      entries.push_back({links.peers[peer].control.get(), POLLIN, 0});
      peers.push_back(static_cast<int64_t>(peer));
    }
    if (poll(entries.data(), entries.size(), napMs) <= 0)
      continue;
    for (size_t i = 0; i < entries.size(); ++i)
      if (entries[i].revents)
        take(peers[i]);
  }
}

void ProcessWorld::take(int64_t peer) {
  constexpr int64_t longest = 1 << 20;
  const Socket &socket = links.peers[peer].control;
  Message message;
  std::string text;
  try {
    receiveAll(socket, &message, sizeof message, Clock::now() + patience);
    if (message.textBytes < 0 || message.textBytes > longest)
      return lost(peer);
    text.resize(message.textBytes);
    receiveAll(socket, text.data(), text.size(), Clock::now() + patience);
  } catch (const Error &) {
    return lost(peer);
  }
  handle(peer, message, text);
}

void ProcessWorld::handle(int64_t peer, const Message &message,
                          const std::string &text) {
  Other &other = others[peer];
  switch (message.kind) {
  case Failed:
    first.record({static_cast<tsr_status>(message.code), text});
    return;
  case Where: {
    tellFailure(peer);
    Message here{Here};
    // In this order: a rank enters a round, sends its frames, and leaves.
    here.round = own.round.load();
    here.inside = own.inside.load();
    here.op = own.op.load();
    for (int lane : {0, 1})
      here.sent[lane] = other.sent[lane].load();
    return tell(peer, here, "");
  }
  case Goodbye:
  case Here: {
    std::lock_guard<std::mutex> lock(other.answering);
    other.answer = {other.answer.number + 1,
                    {message.inside != 0, message.op},
                    message.round,
                    {message.sent[0], message.sent[1]}};
    if (message.kind == Goodbye)
      other.gone = other.goodbye = true; // goodbye first: see tell
    return;
  }
  default:
    return lost(peer);
  }
}

/// A connection that breaks without a goodbye is a process that ended.
void ProcessWorld::lost(int64_t peer) {
  others[peer].gone = true;
  int64_t op = own.op.load();
  bool inOp = own.inside.load() && op >= 0;
  std::string here =
      inOp ? "in " + settings.describeOp(op) : "between two steps";
  abort({TSR_ABORTED, concat("the process of rank ", peer,
                             " has ended (killed, or crashed), rank ",
                             settings.rank, " was ", here)});
}

void ProcessWorld::ask(int64_t peer) { tell(peer, {Where}, ""); }

ProcessWorld::Answer ProcessWorld::answerOf(int64_t peer) {
  std::lock_guard<std::mutex> lock(others[peer].answering);
  return others[peer].answer;
}

bool ProcessWorld::hasLeft(int64_t peer, Lane lane) {
  Answer last = answerOf(peer);
  return last.number > 0 && !last.place.inside &&
         last.round >= own.round.load() &&
         last.sentToUs[static_cast<int>(lane)] <=
             others[peer].received[static_cast<int>(lane)].load();
}

std::string ProcessWorld::whereIs(int64_t peer) {
  Other &other = others[peer];
  Answer last = answerOf(peer);
  int64_t before = last.number;
  ask(peer);
  Deadline deadline = Clock::now() + answerTime;
  while (last.number == before && !other.gone.load()) {
    if (Clock::now() >= deadline)
      return "does not answer";
    std::this_thread::sleep_for(1ms);
    last = answerOf(peer);
  }
  return other.goodbye.load() ? "has closed its session"
         : other.gone.load()  ? "has ended"
                              : describePlace(last.place, settings.describeOp);
}

std::string ProcessWorld::missing(int64_t peer) {
  return concat("rank ", peer, " is missing, it ", whereIs(peer));
}

std::string ProcessWorld::describeOthers() {
  std::string text;
  for (size_t peer = 0; peer < others.size(); ++peer)
    if (static_cast<int64_t>(peer) != settings.rank)
      text += concat(text.empty() ? "" : "; ", "rank ", peer, " ",
                     whereIs(static_cast<int64_t>(peer)));
  return text;
}

} // namespace tessera
