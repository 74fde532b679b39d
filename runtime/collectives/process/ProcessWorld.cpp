#include "runtime/collectives/process/ProcessWorld.h"

#include "runtime/collectives/process/TcpEngine.h"
#include "runtime/support/SignalsBlocked.h"
#include "runtime/support/Status.h"

#include <algorithm>
#include <poll.h>
#include <sys/socket.h>
#include <system_error>

namespace tessera {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

namespace {
// The listener looks up this often whether it shall stop.
constexpr int napMs = 50;
// A message on a control connection is short: who does not read it is stuck.
constexpr std::chrono::seconds patience{2};
// A diagnosis waits this long for a busy process to say where it is.
constexpr std::chrono::milliseconds answerTime{1000};
// The end of a healthy session waits this long for the others.
constexpr std::chrono::seconds goodbyeTime{10};
// The end of one that failed waits less. Launchers end all processes when the
// first one ends, and each shall have said what it knows.
constexpr std::chrono::seconds failedGoodbyeTime{1};
} // namespace

ProcessWorld::ProcessWorld(ProcessLinks given, ProcessWorldOptions options,
                           std::unique_ptr<Engine> engine)
    : links(std::move(given)),
      mover(engine ? std::move(engine) : makeTcpEngine(links)),
      settings(std::move(options)), others(links.peers.size()) {
  std::vector<pollfd> entries(others.size());
  SignalsBlocked blocked;
  try {
    listener = std::thread(
        [this, entries = std::move(entries)]() mutable { listen(entries); });
  } catch (const std::system_error &error) {
    fail(TSR_OUT_OF_MEMORY,
         "cannot start the thread that listens to the other "
         "processes: ",
         error.what());
  }
}

ProcessWorld::~ProcessWorld() {
  own.inside.store(false);
  for (size_t peer = 0; peer < others.size(); ++peer) {
    tellFailure(static_cast<int64_t>(peer));
    ControlMessage goodbye{ControlMessage::Goodbye};
    goodbye.round = INT64_MAX;
    for (int lane : {0, 1})
      goodbye.sent[lane] = others[peer].sent[lane].load();
    tell(static_cast<int64_t>(peer), goodbye, "");
  }
  waitForGoodbyes();
  stopping.store(true);
  listener.join();
}

void ProcessWorld::waitForGoodbyes() const {
  const bool hadFailed = failed();
  Deadline deadline =
      Clock::now() + (hadFailed ? failedGoodbyeTime : goodbyeTime);
  auto all = [&] {
    for (size_t peer = 0; peer < others.size(); ++peer)
      if (links.peers[peer].control && !others[peer].gone.load())
        return false;
    return true;
  };
  while (!all() && failed() == hadFailed && Clock::now() < deadline)
    std::this_thread::sleep_for(1ms);
}

void ProcessWorld::entered() {
  own.op.store(-1);
  ++own.round;
  own.inside.store(true);
}

/// Tells a peer if that is possible: one that cannot be told is gone, and
/// noticed as such.
void ProcessWorld::tell(int64_t peer, const ControlMessage &message,
                        const std::string &text) noexcept {
  const Socket &socket = links.peers[peer].control;
  // Who said goodbye still waits for ours.
  if (!socket || (others[peer].gone.load() && !others[peer].goodbye.load()))
    return;
  std::lock_guard<std::mutex> lock(telling);
  try {
    sendControl(socket, message, text, Clock::now() + patience);
  } catch (...) {
  }
}

/// A peer must not take for the cause that this rank gave up.
void ProcessWorld::tellFailure(int64_t peer) noexcept {
  if (!failed())
    return;
  Status why = failure();
  tell(peer, {ControlMessage::Failed, why.code}, why.message);
}

void ProcessWorld::abort(const Status &status) noexcept {
  if (!first.record(status))
    return;
  for (size_t peer = 0; peer < others.size(); ++peer)
    tellFailure(static_cast<int64_t>(peer));
}

/// Listens; `entries`, one for each peer, are memory that it need not ask for.
void ProcessWorld::listen(std::vector<pollfd> &entries) noexcept {
  while (!stopping.load()) {
    for (size_t peer = 0; peer < others.size(); ++peer) {
      const Socket &socket = links.peers[peer].control;
      entries[peer] = {others[peer].gone.load() ? -1 : socket.get(), POLLIN, 0};
    }
    if (poll(entries.data(), entries.size(), napMs) <= 0)
      continue;
    for (size_t peer = 0; peer < entries.size(); ++peer)
      if (entries[peer].revents)
        take(static_cast<int64_t>(peer));
  }
}

void ProcessWorld::take(int64_t peer) noexcept {
  ControlMessage message;
  std::string text;
  try {
    message = receiveControl(links.peers[peer].control, &text,
                             Clock::now() + patience);
  } catch (const Error &) {
    return lost(peer);
  } catch (...) { // the following bytes are no message any more
    others[peer].gone = true;
    return abort(currentStatus());
  }
  handle(peer, message, text);
}

ControlMessage ProcessWorld::here(int64_t peer) const {
  ControlMessage message{ControlMessage::Here};
  // In this order: a rank enters a round, sends its frames, and leaves.
  message.round = own.round.load();
  message.inside = own.inside.load();
  message.op = own.op.load();
  message.works = own.works.load();
  for (int lane : {0, 1}) {
    message.sent[lane] = others[peer].sent[lane].load();
    message.waitsFor[lane] = own.waits[lane].peer.load();
    message.axes[lane] = own.waits[lane].axes.load();
  }
  return message;
}

/// Takes what a peer says of itself: Here or Goodbye.
void ProcessWorld::keep(int64_t peer, const ControlMessage &message) noexcept {
  Other &other = others[peer];
  std::lock_guard<std::mutex> lock(other.answering);
  Answer &answer = other.answer;
  answer.number += 1;
  answer.place = {message.inside != 0, message.op};
  answer.round = message.round;
  for (int lane : {0, 1}) {
    answer.sentToUs[lane] = message.sent[lane];
    answer.waitsFor[lane] = message.waitsForOf(lane, others.size());
    answer.axes[lane] = message.axes[lane];
  }
  if (message.works)
    answer.workedAt = Clock::now();
}

void ProcessWorld::handle(int64_t peer, const ControlMessage &message,
                          std::string &text) noexcept {
  switch (message.kind) {
  case ControlMessage::Failed:
    first.record({message.status(), std::move(text)});
    return;
  case ControlMessage::Where:
    tellFailure(peer);
    return tell(peer, here(peer), "");
  case ControlMessage::Here:
    return keep(peer, message);
  case ControlMessage::Goodbye:
    keep(peer, message);
    others[peer].gone = others[peer].goodbye = true; // goodbye first: see tell
    return;
  }
}

/// Returns " over axis 'tp'"; "" for a message, which has none.
static std::string overAxes(const Mesh &mesh, int64_t axes) {
  return axes == 0 ? "" : " over " + mesh.describe(axes);
}

/// Describes this rank's op, and the axes of the calls that it is in.
std::string ProcessWorld::describeOwn() const {
  int64_t op = own.op.load();
  bool inOp = own.inside.load() && op >= 0;
  std::string text =
      inOp ? "in " + settings.describeOp(op) : "between two steps";
  if (own.waits[0].peer.load() >= 0)
    text += overAxes(settings.mesh, own.waits[0].axes.load());
  if (own.waits[1].peer.load() >= 0)
    text += concat(", and in the background in ",
                   settings.describeOp(own.waits[1].op.load()),
                   overAxes(settings.mesh, own.waits[1].axes.load()));
  return text;
}

/// A connection that breaks without a goodbye is a process that ended.
void ProcessWorld::lost(int64_t peer) noexcept {
  others[peer].gone = true;
  abort(describedAs(TSR_ABORTED, [&] {
    return concat("the process of rank ", peer,
                  " has ended (killed, or crashed), or its connection broke; "
                  "rank ",
                  settings.rank, " was ", describeOwn());
  }));
}

void ProcessWorld::waits(Lane lane, int64_t peer, int64_t op, int64_t axes) {
  Wait &wait = own.waits[static_cast<int>(lane)];
  wait.op = op;
  wait.axes = axes;
  wait.peer = peer;
}

void ProcessWorld::ask(int64_t peer) {
  tell(peer, {ControlMessage::Where}, "");
}

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

Deadline ProcessWorld::workedAt(int64_t peer) {
  return answerOf(peer).workedAt;
}

/// Asks and waits a moment; false if the peer does not answer.
bool ProcessWorld::hasAnswered(int64_t peer, Answer *answer) {
  *answer = answerOf(peer);
  int64_t before = answer->number;
  ask(peer);
  Deadline deadline = Clock::now() + answerTime;
  while (answer->number == before && !others[peer].gone.load()) {
    if (Clock::now() >= deadline)
      return false;
    std::this_thread::sleep_for(1ms);
    *answer = answerOf(peer);
  }
  return true;
}

/// Tells of a wait in the other lane only if nothing waits in this one.
ProcessWorld::Whereabouts ProcessWorld::whereabouts(const Answer &answer,
                                                    Lane lane) const {
  int number = static_cast<int>(lane);
  int shown = answer.waitsFor[number] >= 0 ? number : 1 - number;
  std::string text = describePlace(answer.place, settings.describeOp);
  if (answer.waitsFor[shown] < 0)
    return {text, -1};
  return {text + overAxes(settings.mesh, answer.axes[shown]),
          answer.waitsFor[shown]};
}

ProcessWorld::Whereabouts ProcessWorld::whereIs(int64_t peer, Lane lane) {
  Answer answer;
  if (!hasAnswered(peer, &answer))
    return {"does not answer", -1};
  const Other &other = others[peer];
  if (other.goodbye.load())
    return {"has closed its session", -1};
  if (other.gone.load())
    return {"has ended", -1};
  return whereabouts(answer, lane);
}

std::string ProcessWorld::describeWait(int64_t peer, Lane lane) {
  std::vector<int64_t> seen{settings.rank, peer};
  Whereabouts at = whereIs(peer, lane);
  std::string text = "it " + at.text;
  while (at.waitsFor >= 0) {
    int64_t next = at.waitsFor;
    text += concat(", where it waits for rank ", next);
    if (std::find(seen.begin(), seen.end(), next) != seen.end())
      return text;
    seen.push_back(next);
    at = whereIs(next, lane);
    text += ", which " + at.text;
  }
  return text;
}

std::string ProcessWorld::describeOthers() {
  std::string text;
  for (size_t peer = 0; peer < others.size(); ++peer)
    if (static_cast<int64_t>(peer) != settings.rank)
      text += concat(text.empty() ? "" : "; ", "rank ", peer, " ",
                     whereIs(static_cast<int64_t>(peer), Lane::Program).text);
  return text;
}

} // namespace tessera
