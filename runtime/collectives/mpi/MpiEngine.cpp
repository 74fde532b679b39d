#include "runtime/collectives/mpi/MpiEngine.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <sys/prctl.h>
#include <thread>

namespace tessera {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

namespace {
// Up to this many bytes travel with the frame, in one message.
constexpr int64_t joinedBytes = 8192;
// A failure elsewhere is noticed within this time.
constexpr std::chrono::milliseconds engineNap{20};
// A wait spins, then gives way to other threads, then naps.
constexpr int pollsBeforeYield = 500;
constexpr std::chrono::microseconds yieldTime{500}, crowdedYieldTime{100};
constexpr std::chrono::microseconds shortNap{20}, longNap{500};
// A nap is this part of the wait so far, which it so lengthens by no more.
constexpr int napShare = 8;
// After a failure messages have this long to be given up.
constexpr std::chrono::milliseconds cancelTime{50};

/// The first message of a partner: its frame, and few bytes.
struct FirstMessage {
  CallFrame frame;
  unsigned char bytes[joinedBytes];
};

/// A message on its way.
struct Pending {
  size_t partner;
  int64_t bytes;
  bool isOut, isFirst;
};

template <class Segment> int64_t bytesOf(const std::vector<Segment> &segments) {
  int64_t bytes = 0;
  for (const Segment &segment : segments)
    bytes += segment.bytes;
  return bytes;
}

/// Sleeps no longer than asked for: the system lengthens other sleeps by 50 us.
void takeNap(Clock::duration time) {
  thread_local const int isExact = prctl(PR_SET_TIMERSLACK, 1UL);
  static_cast<void>(isExact);
  std::this_thread::sleep_for(time);
}

class MpiTraffic final : public Traffic {
public:
  MpiTraffic(const MpiPlugin &plugin, int lane, bool isCrowded,
             std::vector<Partner> &partners)
      : plugin(plugin), lane(lane), isCrowded(isCrowded), partners(partners),
        firstOut(new FirstMessage[partners.size()]),
        firstIn(new FirstMessage[partners.size()]), early(partners.size()) {
    // Receives first: what arrives then finds its place at once.
    for (size_t i = 0; i < partners.size(); ++i)
      if (partners[i].transfer.receives)
        receive(i);
    for (size_t i = 0; i < partners.size(); ++i)
      if (partners[i].transfer.sends)
        send(i);
    done.resize(requests.size());
  }
  ~MpiTraffic() override;

  void advance() override;

private:
  void send(size_t partner);
  void receive(size_t partner);
  template <class Start>
  void startPieces(size_t partner, bool isOut, int64_t bytes,
                   const Start &start);
  void add(const Pending &message, tsr_mpi_request request, int32_t code);
  bool collect();
  void finishMessage(const Pending &message);
  void takeFirst(size_t partner);

  const MpiPlugin &plugin;
  int lane;
  bool isCrowded;
  std::vector<Partner> &partners;
  std::unique_ptr<FirstMessage[]> firstOut, firstIn;
  std::vector<int64_t> early; ///< bytes that came before their frame
  std::vector<tsr_mpi_request> requests;
  std::vector<Pending> pending; ///< one for each request
  std::vector<int8_t> done;
};

void MpiTraffic::add(const Pending &message, tsr_mpi_request request,
                     int32_t code) {
  if (code != 0) {
    partners[message.partner].broken = true;
    return;
  }
  requests.push_back(request);
  pending.push_back(message);
}

template <class Start>
void MpiTraffic::startPieces(size_t partner, bool isOut, int64_t bytes,
                             const Start &start) {
  for (int64_t begin = 0; begin < bytes; begin += TSR_MPI_MOST_BYTES) {
    const int64_t piece = std::min<int64_t>(bytes - begin, TSR_MPI_MOST_BYTES);
    tsr_mpi_request request{};
    const int32_t code = start(begin, static_cast<int32_t>(piece), &request);
    add({partner, piece, isOut, false}, request, code);
  }
}

void MpiTraffic::send(size_t number) {
  const Partner &partner = partners[number];
  const auto peer = static_cast<int32_t>(partner.transfer.peer);
  FirstMessage &first = firstOut[number];
  first.frame = partner.sent;
  const int64_t total = bytesOf(partner.transfer.out);
  int64_t joined = 0;
  if (total <= joinedBytes)
    for (const OutBytes &segment : partner.transfer.out) {
      std::memcpy(first.bytes + joined, segment.data,
                  static_cast<size_t>(segment.bytes));
      joined += segment.bytes;
    }
  const int64_t bytes = static_cast<int64_t>(sizeof first.frame) + joined;
  tsr_mpi_request request{};
  int32_t code = plugin.table->start_send(
      lane, &first, static_cast<int32_t>(bytes), peer, &request);
  add({number, bytes, true, true}, request, code);
  if (total > joinedBytes)
    for (const OutBytes &segment : partner.transfer.out)
      startPieces(number, true, segment.bytes,
                  [&](int64_t begin, int32_t piece, tsr_mpi_request *out) {
                    return plugin.table->start_send(
                        lane, static_cast<const char *>(segment.data) + begin,
                        piece, peer, out);
                  });
}

void MpiTraffic::receive(size_t number) {
  const Partner &partner = partners[number];
  const auto peer = static_cast<int32_t>(partner.transfer.peer);
  const int64_t total = bytesOf(partner.transfer.in);
  const int64_t joined = total <= joinedBytes ? total : 0;
  tsr_mpi_request request{};
  // There is room for the first message of any call: its frame says whose.
  int32_t code = plugin.table->start_receive(
      lane, &firstIn[number], static_cast<int32_t>(sizeof(FirstMessage)), peer,
      &request);
  add({number, static_cast<int64_t>(sizeof(CallFrame)) + joined, false, true},
      request, code);
  if (total > joinedBytes)
    for (const InBytes &segment : partner.transfer.in)
      startPieces(number, false, segment.bytes,
                  [&](int64_t begin, int32_t piece, tsr_mpi_request *out) {
                    return plugin.table->start_receive(
                        lane, static_cast<char *>(segment.data) + begin, piece,
                        peer, out);
                  });
}

void MpiTraffic::takeFirst(size_t number) {
  Partner &partner = partners[number];
  partner.got = firstIn[number].frame;
  if (bytesOf(partner.transfer.in) > joinedBytes)
    return;
  const unsigned char *from = firstIn[number].bytes;
  for (const InBytes &segment : partner.transfer.in) {
    std::memcpy(segment.data, from, static_cast<size_t>(segment.bytes));
    from += segment.bytes;
  }
}

void MpiTraffic::finishMessage(const Pending &message) {
  Partner &partner = partners[message.partner];
  if (message.isOut) {
    partner.out += message.bytes;
    return;
  }
  if (message.isFirst)
    takeFirst(message.partner);
  else if (!partner.hasArrived()) {
    early[message.partner] += message.bytes;
    return;
  }
  partner.in += message.bytes + std::exchange(early[message.partner], 0);
}

/// Returns whether a message is done, or has failed.
bool MpiTraffic::collect() {
  if (requests.empty())
    return false;
  if (plugin.table->test(requests.data(), static_cast<int32_t>(requests.size()),
                         done.data()) != 0) {
    for (const Pending &message : pending)
      partners[message.partner].broken = true;
    return true;
  }
  size_t kept = 0;
  for (size_t i = 0; i < requests.size(); ++i) {
    if (done[i] > 0)
      finishMessage(pending[i]);
    else if (done[i] < 0)
      partners[pending[i].partner].broken = true;
    else {
      requests[kept] = requests[i];
      pending[kept++] = pending[i];
    }
  }
  const bool isSome = kept < requests.size();
  requests.resize(kept);
  pending.resize(kept);
  return isSome;
}

void MpiTraffic::advance() {
  const Clock::time_point start = Clock::now();
  const auto yields = isCrowded ? crowdedYieldTime : yieldTime;
  for (int polls = 0; !collect(); ++polls) {
    if (!isCrowded && polls < pollsBeforeYield)
      continue;
    const Clock::duration waited = Clock::now() - start;
    if (waited >= engineNap)
      return;
    if (waited < yields)
      std::this_thread::yield();
    else
      takeNap(
          std::clamp<Clock::duration>(waited / napShare, shortNap, longNap));
  }
}

/// A call that failed has messages on their way, in memory of the caller and of
/// this object. What cannot be given up in a moment keeps the latter.
MpiTraffic::~MpiTraffic() {
  for (tsr_mpi_request &request : requests)
    plugin.table->cancel(&request);
  const Clock::time_point deadline = Clock::now() + cancelTime;
  while (!requests.empty() && Clock::now() < deadline) {
    if (plugin.table->test(requests.data(),
                           static_cast<int32_t>(requests.size()),
                           done.data()) != 0)
      break;
    size_t kept = 0;
    for (size_t i = 0; i < requests.size(); ++i)
      if (done[i] == 0)
        requests[kept++] = requests[i];
    requests.resize(kept);
  }
  if (requests.empty())
    return;
  static_cast<void>(firstOut.release());
  static_cast<void>(firstIn.release());
}

class MpiEngine final : public Engine {
public:
  MpiEngine(const MpiPlugin &plugin, bool isCrowded)
      : plugin(plugin), isCrowded(isCrowded) {
    if (isUsed.exchange(true))
      fail(TSR_INVALID_ARGUMENT, "another session of this process uses the "
                                 "MPI; destroy it first");
  }
  ~MpiEngine() override { isUsed = false; }
  const char *name() const override { return "mpi"; }
  std::unique_ptr<Traffic> start(Lane lane,
                                 std::vector<Partner> &partners) override {
    return std::make_unique<MpiTraffic>(plugin, static_cast<int>(lane),
                                        isCrowded, partners);
  }

private:
  /// Two worlds on the same lanes would take each other's messages.
  static inline std::atomic<bool> isUsed{false};
  MpiPlugin plugin;
  bool isCrowded;
};
} // namespace

std::unique_ptr<Engine> makeMpiEngine(const MpiPlugin &plugin, bool isCrowded) {
  return std::make_unique<MpiEngine>(plugin, isCrowded);
}

} // namespace tessera
