#include "runtime/collectives/thread/ThreadWorld.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tessera {

using Clock = std::chrono::steady_clock;

// A failure elsewhere is noticed by sleepers within this time.
static constexpr std::chrono::milliseconds nap{20};

ThreadWorld::ThreadWorld(ThreadWorldOptions options)
    : settings(std::move(options)), places(settings.mesh.ranks()) {}

GroupBarrier &ThreadWorld::group(int64_t rank, int64_t axes, Lane lane) {
  std::vector<int64_t> ranks = settings.mesh.group(rank, axes);
  std::lock_guard<std::mutex> lock(groupsMutex);
  auto &slot = groups[static_cast<int>(lane)][{axes, ranks.front()}];
  if (!slot)
    slot = std::make_unique<GroupBarrier>(std::move(ranks));
  return *slot;
}

MessageChannel &ThreadWorld::channel(int64_t sender, int64_t receiver) {
  std::lock_guard<std::mutex> lock(groupsMutex);
  auto &slot = channels[{sender, receiver}];
  if (!slot)
    slot = std::make_unique<MessageChannel>(sender, receiver);
  return *slot;
}

GroupBarrier &ThreadWorld::channelBarrier(int64_t sender, int64_t receiver) {
  std::lock_guard<std::mutex> lock(groupsMutex);
  auto &slot = channelBarriers[{sender, receiver}];
  if (!slot)
    slot =
        std::make_unique<GroupBarrier>(std::vector<int64_t>{sender, receiver});
  return *slot;
}

Status ThreadWorld::check(int64_t rank, const Message &message) {
  if (Status status = checkMessage(settings.mesh, rank, message); !status.ok())
    abort(status);
  return failure();
}

bool ThreadWorld::spin(const Awaited &what) const {
  for (int i = 0; i < settings.spins; ++i) {
    if (what.isComplete())
      return true;
#if defined(__x86_64__)
    _mm_pause();
#endif
  }
  return what.isComplete();
}

bool ThreadWorld::someoneLeft(const Awaited &what) const {
  const std::vector<int64_t> &ranks = what.ranks();
  for (size_t i = 0; i < ranks.size(); ++i)
    // In this order: a rank arrives before it leaves.
    if (!places[ranks[i]].inside.load() && !what.hasArrived(i))
      return true;
  return false;
}

Status ThreadWorld::waitFor(const Awaited &what, bool spins) {
  if (spins ? spin(what) : what.isComplete())
    return {};
  Clock::time_point deadline = Clock::now() + settings.timeout;
  while (true) {
    what.sleep(std::min(nap, settings.timeout));
    if (what.isComplete())
      return {};
    if (failed())
      break;
    if (someoneLeft(what))
      abort({TSR_INTERNAL, describe(what, "cannot finish")});
    else if (Clock::now() >= deadline)
      abort({TSR_TIMEOUT,
             describe(what, concat("did not finish within ",
                                   settings.timeout.count(), " ms"))});
  }
  return failure();
}

RankPlace ThreadWorld::placeOf(int64_t rank) const {
  return {places[rank].inside.load(), places[rank].op.load()};
}

std::string ThreadWorld::missing(int64_t rank) const {
  return describeMissing(rank, placeOf(rank), settings.describeOp);
}

std::string ThreadWorld::describeOthers(int64_t rank) const {
  std::string text;
  for (int64_t other = 0; other < settings.mesh.ranks(); ++other)
    if (other != rank)
      text += concat(text.empty() ? "" : "; ", "rank ", other, " ",
                     describePlace(placeOf(other), settings.describeOp));
  return text;
}

std::string ThreadWorld::describe(const Awaited &what,
                                  const std::string &why) const {
  const std::vector<int64_t> &ranks = what.ranks();
  std::vector<int64_t> arrived;
  std::string absent;
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (what.hasArrived(i))
      arrived.push_back(ranks[i]);
    else
      absent += concat(missing(ranks[i]), "; ");
  }
  return concat(what.describe(settings), " ", why, ": ", absent,
                describeArrived(arrived));
}

void ThreadWorld::reached(int64_t rank, int64_t op) {
  places[rank].op.store(op, std::memory_order_relaxed);
}

void ThreadWorld::setInside(int64_t rank, bool inside) {
  if (inside)
    places[rank].op.store(-1, std::memory_order_relaxed);
  places[rank].inside.store(inside);
}

std::string ThreadWorld::describeStragglers() const {
  std::string absent;
  for (size_t rank = 0; rank < places.size(); ++rank)
    if (places[rank].inside.load())
      absent += concat(absent.empty() ? "" : "; ", missing(rank));
  return concat("the step did not finish within ", settings.timeout.count(),
                " ms of the first rank: ", absent);
}

void ThreadWorld::abortStragglers() noexcept {
  abort(describedAs(TSR_TIMEOUT, [&] { return describeStragglers(); }));
}

} // namespace tessera
