#include "runtime/collectives/process/TcpExchange.h"

#include "runtime/collectives/process/Frames.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>

namespace tessera {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

namespace {
// A failure elsewhere is noticed within this time.
constexpr int exchangeNapMs = 20;
// Peers that let us wait are asked where they are after this time, and then
// every second; the answer is also how one that saves shows that it lives.
constexpr std::chrono::milliseconds askAfter{200}, askAgain{1000};
// With a short time-out they are asked as often in that time.
constexpr int questions = 4;
// After a connection is lost, the control connection has this long to say why.
constexpr std::chrono::milliseconds lastWords{1000};

/// One peer's part of a call.
struct Partner {
  const Transfer &transfer;
  CallFrame sent, got{};
  int64_t out = 0, in = 0; ///< bytes done, the frame's first
  bool broken = false;

  bool sendsMore() const {
    return out < int64_t(sizeof sent) + transfer.outBytes;
  }
  bool receivesMore() const {
    return in < int64_t(sizeof got) + transfer.inBytes;
  }
  bool hasArrived() const { return in >= int64_t(sizeof got); }
  bool isDone() const { return !sendsMore() && !receivesMore(); }
};

class Exchange {
public:
  Exchange(ProcessWorld &world, const TcpCall &call,
           const std::vector<Transfer> &transfers)
      : world(world), call(call) {
    for (const Transfer &transfer : transfers)
      partners.push_back({transfer, frameOf(call.offer)});
  }

  Status run();

private:
  bool isDone() const;
  void push(Partner &partner);
  void pull(Partner &partner);
  void arrived(Partner &partner);
  std::vector<pollfd> interests() const;
  void checkProgress();
  void askMissing();
  void tellWaiting() const;
  bool isLate(const Partner &partner) const;
  void fail(tsr_status code, const std::string &why);
  void failBroken(const Partner &partner);

  ProcessWorld &world;
  const TcpCall &call;
  std::vector<Partner> partners;
  Clock::time_point start = Clock::now(),
                    nextQuestion = start + within(askAfter);

  /// Several times in a time-out, however short it is.
  Clock::duration within(std::chrono::milliseconds time) const {
    return std::min<Clock::duration>(time, world.options().timeout / questions);
  }
};

bool Exchange::isDone() const {
  return std::all_of(partners.begin(), partners.end(),
                     [](const Partner &partner) { return partner.isDone(); });
}

void Exchange::push(Partner &partner) {
  const Socket &socket = world.data(partner.transfer.peer, call.lane);
  while (partner.sendsMore()) {
    auto header = static_cast<int64_t>(sizeof partner.sent);
    bool inFrame = partner.out < header;
    auto *from =
        inFrame ? reinterpret_cast<const char *>(&partner.sent) + partner.out
                : static_cast<const char *>(partner.transfer.out) +
                      (partner.out - header);
    int64_t bytes =
        (inFrame ? header : header + partner.transfer.outBytes) - partner.out;
    int more = inFrame && partner.transfer.outBytes > 0 ? MSG_MORE : 0;
    if (partner.out == 0)
      world.countSent(partner.transfer.peer, call.lane);
    ssize_t sent = send(socket.get(), from, static_cast<size_t>(bytes),
                        MSG_NOSIGNAL | MSG_DONTWAIT | more);
    if (sent > 0) {
      partner.out += sent;
      continue;
    }
    partner.broken = errno != EAGAIN && errno != EINTR;
    return;
  }
}

void Exchange::pull(Partner &partner) {
  const Socket &socket = world.data(partner.transfer.peer, call.lane);
  while (partner.receivesMore()) {
    auto header = static_cast<int64_t>(sizeof partner.got);
    bool inFrame = partner.in < header;
    char *to = inFrame ? reinterpret_cast<char *>(&partner.got) + partner.in
                       : static_cast<char *>(partner.transfer.in) +
                             (partner.in - header);
    int64_t bytes =
        (inFrame ? header : header + partner.transfer.inBytes) - partner.in;
    ssize_t got =
        recv(socket.get(), to, static_cast<size_t>(bytes), MSG_DONTWAIT);
    if (got > 0) {
      partner.in += got;
      if (inFrame && partner.hasArrived())
        arrived(partner);
      if (world.failed())
        return;
      continue;
    }
    partner.broken = got == 0 || (errno != EAGAIN && errno != EINTR);
    return;
  }
}

void Exchange::arrived(Partner &partner) {
  world.countReceived(partner.transfer.peer, call.lane);
  std::string why =
      isFrame(partner.got)
          ? call.objection(world, call, offerOf(partner.got),
                           partner.transfer.peer)
          : concat("rank ", partner.transfer.peer, " sent what is no frame");
  if (!why.empty())
    world.abort({TSR_INTERNAL, why});
}

std::vector<pollfd> Exchange::interests() const {
  std::vector<pollfd> entries;
  for (const Partner &partner : partners) {
    int events = (partner.sendsMore() ? POLLOUT : 0) |
                 (partner.receivesMore() ? POLLIN : 0);
    bool waits = events && !partner.broken;
    entries.push_back(
        {waits ? world.data(partner.transfer.peer, call.lane).get() : -1,
         static_cast<short>(events), 0});
  }
  return entries;
}

/// Says who is missing, and where; who has arrived. A rank that waits for
/// another is not to blame: the chain goes on to one that does not wait.
void Exchange::fail(tsr_status code, const std::string &why) {
  std::string absent;
  std::vector<int64_t> present{world.options().rank};
  for (const Partner &partner : partners) {
    int64_t peer = partner.transfer.peer;
    if (!partner.isDone())
      absent += concat("rank ", peer,
                       partner.hasArrived() ? " stopped in its data, "
                                            : " is missing, ",
                       world.describeWait(peer, call.lane), "; ");
    if (partner.hasArrived())
      present.push_back(peer);
  }
  std::sort(present.begin(), present.end());
  world.abort(
      {code,
       concat(describeCall(call.offer, world.options().describeOp), " ",
              call.where, " ", why, ": ", absent, describeArrived(present))});
}

/// The control connection knows more, if it speaks.
void Exchange::failBroken(const Partner &partner) {
  Deadline deadline = Clock::now() + lastWords;
  int64_t peer = partner.transfer.peer;
  while (!world.failed() && !world.isGone(peer) && Clock::now() < deadline)
    std::this_thread::sleep_for(1ms);
  if (!world.failed())
    fail(TSR_ABORTED, "cannot finish");
}

void Exchange::askMissing() {
  nextQuestion = Clock::now() + within(askAgain);
  for (const Partner &partner : partners)
    if (!partner.isDone())
      world.ask(partner.transfer.peer);
}

/// Tells the others where this rank waits, for their diagnoses.
void Exchange::tellWaiting() const {
  for (const Partner &partner : partners)
    if (!partner.isDone())
      return world.waits(call.lane, partner.transfer.peer, call.offer.call.op,
                         call.offer.call.axes);
}

/// The time-out counts from the last sign of work on files, if there is one.
bool Exchange::isLate(const Partner &partner) const {
  Clock::time_point sign =
      std::max(start, world.workedAt(partner.transfer.peer));
  return !partner.isDone() && Clock::now() - sign >= world.options().timeout;
}

void Exchange::checkProgress() {
  tellWaiting();
  for (const Partner &partner : partners) {
    if (partner.broken)
      return failBroken(partner);
    if (!partner.hasArrived() &&
        world.hasLeft(partner.transfer.peer, call.lane))
      return fail(TSR_INTERNAL, "cannot finish");
    if (isLate(partner))
      return fail(TSR_TIMEOUT, concat("did not finish within ",
                                      world.options().timeout.count(), " ms"));
  }
  const ProcessWorldOptions &options = world.options();
  auto longest = std::max(options.timeout, options.saveTimeout);
  if (Clock::now() - start >= longest)
    return fail(TSR_TIMEOUT, concat("did not finish within ", longest.count(),
                                    " ms of work on files"));
  if (Clock::now() >= nextQuestion)
    askMissing();
}

Status Exchange::run() {
  tellWaiting();
  for (Partner &partner : partners)
    push(partner);
  while (!world.failed() && !isDone()) {
    std::vector<pollfd> entries = interests();
    poll(entries.data(), entries.size(), exchangeNapMs);
    for (size_t i = 0; i < partners.size() && !world.failed(); ++i) {
      if (entries[i].revents & (POLLIN | POLLHUP | POLLERR))
        pull(partners[i]);
      if (entries[i].revents & (POLLOUT | POLLERR))
        push(partners[i]);
    }
    if (!world.failed() && !isDone())
      checkProgress();
  }
  world.stopsWaiting(call.lane);
  return world.failure();
}
} // namespace

Status exchange(ProcessWorld &world, const TcpCall &call,
                const std::vector<Transfer> &transfers) {
  if (world.failed())
    return world.failure();
  try {
    return Exchange(world, call, transfers).run();
  } catch (...) { // the others' bytes are no longer in step
    world.abort(currentStatus());
    return world.failure();
  }
}

} // namespace tessera
