#include "runtime/collectives/process/ProcessExchange.h"

#include <algorithm>
#include <numeric>

namespace tessera {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

namespace {
// Peers that let us wait are asked where they are after this time, and then
// every second; the answer is also how one that saves shows that it lives.
constexpr std::chrono::milliseconds askAfter{200}, askAgain{1000};
// With a short time-out they are asked as often in that time.
constexpr int questions = 4;
// After a connection is lost, the control connection has this long to say why.
constexpr std::chrono::milliseconds lastWords{1000};

class Exchange {
public:
  Exchange(ProcessWorld &world, const ProcessCall &call,
           const std::vector<Transfer> &transfers)
      : world(world), call(call) {
    const CallFrame frame = frameOf(call.offer);
    partners.reserve(transfers.size());
    for (const Transfer &transfer : transfers)
      partners.emplace_back(transfer, frame);
    checked.resize(partners.size());
  }

  Status run();

private:
  bool isDone() const;
  void checkArrivals();
  void checkFrame(Partner &partner);
  void checkProgress();
  void askMissing();
  void tellWaiting() const;
  bool isLate(const Partner &partner) const;
  bool isDeserted(const Partner &partner);
  void fail(tsr_status code, const std::string &why);
  void failBroken(const Partner &partner);

  ProcessWorld &world;
  const ProcessCall &call;
  std::vector<Partner> partners;
  std::vector<char> checked; ///< says of each partner whether its frame is
  Clock::time_point start = Clock::now(),
                    nextQuestion = start + within(askAfter);
  Clock::time_point deserted{}; ///< The first such moment, or the epoch.

  /// Several times in a time-out, however short it is.
  Clock::duration within(std::chrono::milliseconds time) const {
    return std::min<Clock::duration>(time, world.options().timeout / questions);
  }
};

bool Exchange::isDone() const {
  return std::all_of(partners.begin(), partners.end(),
                     [](const Partner &partner) { return partner.isDone(); });
}

/// A frame that does not fit ends the call; what follows it may be another's.
void Exchange::checkArrivals() {
  for (size_t i = 0; i < partners.size() && !world.failed(); ++i)
    if (!checked[i] && partners[i].hasArrived()) {
      checked[i] = 1;
      checkFrame(partners[i]);
    }
}

void Exchange::checkFrame(Partner &partner) {
  world.countReceived(partner.transfer.peer, call.lane);
  std::string why =
      isFrame(partner.got)
          ? call.objection(world, call, offerOf(partner.got),
                           partner.transfer.peer)
          : concat("rank ", partner.transfer.peer, " sent what is no frame");
  if (!why.empty())
    world.abort({TSR_INTERNAL, why});
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

/// Returns whether a peer has left the program before its part of the call. One
/// that only takes what we send may have taken all of it and gone on before the
/// engine says so here, so it gets a moment.
bool Exchange::isDeserted(const Partner &partner) {
  if (partner.isDone() || partner.hasArrived() ||
      !world.hasLeft(partner.transfer.peer, call.lane))
    return false;
  if (partner.receivesMore())
    return true;
  const Clock::time_point now = Clock::now();
  if (deserted == Clock::time_point{})
    deserted = now;
  return now - deserted >= lastWords;
}

void Exchange::checkProgress() {
  tellWaiting();
  for (const Partner &partner : partners) {
    if (partner.broken)
      return failBroken(partner);
    if (isDeserted(partner))
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
  for (const Partner &partner : partners)
    if (partner.transfer.sends)
      world.countSent(partner.transfer.peer, call.lane, partner.toSend);
  {
    std::unique_ptr<Traffic> traffic =
        world.engine().start(call.lane, partners);
    while (!world.failed() && !isDone()) {
      traffic->advance();
      checkArrivals();
      if (!world.failed() && !isDone())
        checkProgress();
    }
  }
  world.stopsWaiting(call.lane);
  return world.failure();
}
} // namespace

Partner::Partner(const Transfer &transfer, const CallFrame &frame)
    : transfer(transfer), sent(frame) {
  const auto header = static_cast<int64_t>(sizeof frame);
  auto add = [](int64_t sum, const auto &part) { return sum + part.bytes; };
  if (transfer.sends)
    toSend =
        std::accumulate(transfer.out.begin(), transfer.out.end(), header, add);
  if (transfer.receives)
    toReceive =
        std::accumulate(transfer.in.begin(), transfer.in.end(), header, add);
}

Status exchange(ProcessWorld &world, const ProcessCall &call,
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
