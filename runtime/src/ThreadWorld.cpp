#include "ThreadWorld.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tessera {

using Clock = std::chrono::steady_clock;

// A failure elsewhere is noticed by sleepers within this time.
static constexpr std::chrono::milliseconds nap{20};

ThreadWorld::ThreadWorld(ThreadWorldOptions options)
    : settings(std::move(options)), places(settings.mesh.ranks()) {}

Rendezvous &ThreadWorld::group(int64_t rank, int64_t axes, Lane lane) {
  std::vector<int64_t> ranks = settings.mesh.group(rank, axes);
  std::lock_guard<std::mutex> lock(groupsMutex);
  auto &slot = groups[static_cast<int>(lane)][{axes, ranks.front()}];
  if (!slot)
    slot = std::make_unique<Rendezvous>(std::move(ranks));
  return *slot;
}

Rendezvous &ThreadWorld::channel(int64_t sender, int64_t receiver) {
  std::lock_guard<std::mutex> lock(groupsMutex);
  auto &slot = channels[{sender, receiver}];
  if (!slot)
    slot = std::make_unique<Rendezvous>(std::vector<int64_t>{sender, receiver});
  return *slot;
}

bool ThreadWorld::spin(const Rendezvous &group, uint64_t round) const {
  for (int i = 0; i < settings.spins; ++i) {
    if (group.complete(round))
      return true;
#if defined(__x86_64__)
    _mm_pause();
#endif
  }
  return group.complete(round);
}

bool ThreadWorld::someoneLeft(const Rendezvous &group, uint64_t round) const {
  const std::vector<int64_t> &ranks = group.ranks();
  for (size_t i = 0; i < ranks.size(); ++i)
    // In this order: a rank arrives before it leaves.
    if (!places[ranks[i]].inside.load() && !group.hasArrived(i, round))
      return true;
  return false;
}

Status ThreadWorld::meet(const Wait &wait) {
  Rendezvous &group = wait.group;
  uint64_t round = group.arrive(wait.member);
  if (wait.spins ? spin(group, round) : group.complete(round))
    return {};
  Clock::time_point deadline = Clock::now() + settings.timeout;
  while (true) {
    group.sleep(round, std::min(nap, settings.timeout));
    if (group.complete(round))
      return {};
    if (failed())
      break;
    if (someoneLeft(group, round))
      abort({TSR_INTERNAL, describe(wait, round, "cannot finish")});
    else if (Clock::now() >= deadline)
      abort({TSR_TIMEOUT, describe(wait, round,
                                   concat("did not finish within ",
                                          settings.timeout.count(), " ms"))});
  }
  return failure();
}

std::string ThreadWorld::describeMissing(int64_t rank) const {
  int64_t op = places[rank].op.load();
  std::string place = !places[rank].inside.load() ? "has left the program"
                      : op < 0                    ? "has not reached an op"
                               : concat("is in ", settings.describeOp(op));
  return concat("rank ", rank, " is missing, it ", place);
}

/// "rank 4 has arrived", "ranks 0, 1 and 3 have arrived".
static std::string describeArrived(const std::vector<int64_t> &ranks) {
  std::string list;
  for (size_t i = 0; i < ranks.size(); ++i)
    list += concat(i == 0                  ? ""
                   : i + 1 == ranks.size() ? " and "
                                           : ", ",
                   ranks[i]);
  return ranks.size() == 1 ? concat("rank ", list, " has arrived")
                           : concat("ranks ", list, " have arrived");
}

/// An op of the artifact is named after its collective already.
std::string ThreadWorld::describeCall(const Wait &wait) const {
  std::string op = settings.describeOp(wait.offer.call.op);
  bool named = op.rfind(concat(wait.offer.kind, " "), 0) == 0;
  return concat(named ? op : concat(wait.offer.kind, " of ", op), " ",
                wait.where(settings.mesh, wait));
}

std::string ThreadWorld::describe(const Wait &wait, uint64_t round,
                                  const std::string &why) const {
  const std::vector<int64_t> &ranks = wait.group.ranks();
  std::vector<int64_t> arrived;
  std::string missing;
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (wait.group.hasArrived(i, round))
      arrived.push_back(ranks[i]);
    else
      missing += concat(describeMissing(ranks[i]), "; ");
  }
  return concat(describeCall(wait), " ", why, ": ", missing,
                describeArrived(arrived));
}

void ThreadWorld::abort(const Status &status) {
  std::lock_guard<std::mutex> lock(failureMutex);
  if (hasFailed.load())
    return;
  firstFailure = status;
  hasFailed.store(true, std::memory_order_release);
}

Status ThreadWorld::failure() const {
  if (!failed())
    return {};
  std::lock_guard<std::mutex> lock(failureMutex);
  return firstFailure;
}

void ThreadWorld::reached(int64_t rank, int64_t op) {
  places[rank].op.store(op, std::memory_order_relaxed);
}

void ThreadWorld::setInside(int64_t rank, bool inside) {
  if (inside)
    places[rank].op.store(-1, std::memory_order_relaxed);
  places[rank].inside.store(inside);
}

void ThreadWorld::abortStragglers() {
  std::string missing;
  for (size_t rank = 0; rank < places.size(); ++rank)
    if (places[rank].inside.load())
      missing += concat(missing.empty() ? "" : "; ", describeMissing(rank));
  abort({TSR_TIMEOUT,
         concat("the step did not finish within ", settings.timeout.count(),
                " ms of the first rank: ", missing)});
}

} // namespace tessera
