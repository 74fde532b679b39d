#include "runtime/generate/Scheduler.h"

#include <algorithm>

namespace tessera {

Request *Scheduler::find(int64_t id) {
  for (auto &slot : slots)
    if (slot && slot->id == id)
      return slot.get();
  for (auto &request : queue)
    if (request->id == id)
      return request.get();
  return nullptr;
}

int64_t Scheduler::active() const {
  auto running =
      std::count_if(slots.begin(), slots.end(),
                    [](const auto &slot) { return slot != nullptr; });
  return static_cast<int64_t>(queue.size()) + running;
}

std::unique_ptr<Request> Scheduler::remove(int64_t id) {
  for (auto &slot : slots)
    if (slot && slot->id == id)
      return std::move(slot);
  for (auto it = queue.begin(); it != queue.end(); ++it)
    if ((*it)->id == id) {
      std::unique_ptr<Request> found = std::move(*it);
      queue.erase(it);
      return found;
    }
  return nullptr;
}

std::vector<int64_t> Scheduler::cancelled() const {
  std::vector<int64_t> ids;
  for (const auto &slot : slots)
    if (slot && slot->isCancelled)
      ids.push_back(slot->id);
  for (const auto &request : queue)
    if (request->isCancelled)
      ids.push_back(request->id);
  return ids;
}

int64_t Scheduler::freeSlots(int64_t lane) {
  int64_t count = 0;
  for (int64_t slot = 0; slot < sizes.slots; ++slot)
    count += !at(lane, slot);
  return count;
}

/// The free slot whose content nobody has wanted for longest; `source` only if
/// there is no other.
int64_t Scheduler::oldestFree(int64_t lane, int64_t source) {
  int64_t best = -1;
  for (int64_t slot = 0; slot < sizes.slots; ++slot) {
    if (at(lane, slot) || slot == source)
      continue;
    if (best < 0 || heldAt(lane, slot).lastUse < heldAt(lane, best).lastUse)
      best = slot;
  }
  return best < 0 ? source : best;
}

static int64_t commonBeginning(const std::vector<int32_t> &a,
                               const std::vector<int32_t> &b, int64_t most) {
  const auto room = std::min<int64_t>(
      {most, static_cast<int64_t>(a.size()), static_cast<int64_t>(b.size())});
  return std::mismatch(a.begin(), a.begin() + room, b.begin()).first -
         a.begin();
}

/// The slot of a lane that holds the longest beginning of the prompt, but not
/// its last token, which has to run for what follows it.
Scheduler::Home Scheduler::sourceIn(int64_t lane, const Request &request) {
  Home home;
  home.lane = lane;
  for (int64_t slot = 0; slot < sizes.slots && !request.isRecomputed; ++slot) {
    const int64_t count = commonBeginning(
        heldAt(lane, slot).tokens, request.tokens, request.leftOfPrompt());
    if (count > home.count)
      home.from = slot, home.count = count;
  }
  return home;
}

/// Returns whether a prompt of the lane is about to run more of the beginning.
/// (What others still choose comes a token a step: nobody waits for that.)
bool Scheduler::willHoldMore(const Home &home, const Request &request) {
  for (int64_t slot = 0; slot < sizes.slots && !request.isRecomputed; ++slot) {
    const Request *other = at(home.lane, slot);
    if (!other || other->left() <= 1)
      continue;
    const int64_t most = std::min(request.leftOfPrompt(), other->length());
    if (commonBeginning(other->tokens, request.tokens, most) >
        std::max(home.count, other->done))
      return true;
  }
  return false;
}

/// Chooses the lane with a free slot that holds most of the prompt, and among
/// equal ones that with most free slots: a step of a lane has the same size
/// whether its slots are in use or not. A text that goes on stays in its slot;
/// else what the slot holds is copied, so that others may still begin with it.
Scheduler::Home Scheduler::homeFor(const Request &request) {
  Home best;
  int64_t mostFree = 0;
  for (int64_t lane = 0; lane < sizes.lanes; ++lane) {
    const int64_t free = freeSlots(lane);
    if (free == 0)
      continue;
    const Home home = sourceIn(lane, request);
    if (willHoldMore(home, request))
      continue;
    if (best.lane < 0 || home.count > best.count ||
        (home.count == best.count && free > mostFree))
      best = home, mostFree = free;
  }
  if (best.lane < 0)
    return best;
  const bool isFree = best.count > 0 && !at(best.lane, best.from);
  const bool goesOn =
      isFree && best.count == static_cast<int64_t>(
                                  heldAt(best.lane, best.from).tokens.size());
  best.slot =
      goesOn ? best.from : oldestFree(best.lane, isFree ? best.from : -1);
  return best;
}

void Scheduler::place(std::unique_ptr<Request> request, const Home &home,
                      std::vector<Fork> &forks) {
  request->lane = home.lane;
  request->slot = home.slot;
  request->done = home.count;
  Held &own = heldAt(home.lane, home.slot);
  own.tokens.assign(request->tokens.begin(),
                    request->tokens.begin() + home.count);
  own.lastUse = ++uses;
  if (home.count > 0) {
    heldAt(home.lane, home.from).lastUse = uses;
    forks.push_back({request->id, home.lane, home.from, home.slot, home.count});
  }
  slots[home.lane * sizes.slots + home.slot] = std::move(request);
}

std::vector<Fork> Scheduler::admit() {
  std::vector<Fork> forks;
  for (auto it = queue.begin(); it != queue.end();) {
    const Home home = homeFor(**it);
    if (home.lane < 0) {
      ++it;
      continue;
    }
    place(std::move(*it), home, forks);
    it = queue.erase(it);
  }
  return forks;
}

std::vector<SourceOfStep> Scheduler::takeSources() {
  std::vector<SourceOfStep> sources;
  for (const auto &request : slots) {
    if (!request || request->source.empty() || request->isEncoded)
      continue;
    request->isEncoded = true;
    sources.push_back(
        {request->id, request->lane, request->slot, request->source});
  }
  return sources;
}

void Scheduler::ran(Request &request, int64_t position) {
  Held &own = heldAt(request.lane, request.slot);
  own.lastUse = ++uses;
  if (static_cast<int64_t>(own.tokens.size()) == request.done)
    own.tokens.insert(own.tokens.end(), request.tokens.begin() + request.done,
                      request.tokens.begin() + position + 1);
  request.done = position + 1;
}

/// Forgets the tokens that slots hold. The later tokens of a request that runs
/// on are not held either, because they do not follow on.
void Scheduler::forget() {
  for (Held &each : held)
    each = {};
}

void Scheduler::addRows(StepRows &step, int64_t lane, Request &request,
                        int64_t count) {
  std::vector<RowOfStep> &rows = step.rows[lane];
  for (int64_t k = 0; k < count; ++k)
    rows.push_back({request.id, request.slot, request.done + k,
                    request.tokens[request.done + k],
                    request.labelAt(request.done + k)});
  if (count == request.left() && !request.isScored())
    step.last[lane][request.slot] = static_cast<int32_t>(rows.size()) - 1;
}

template <class Predicate>
bool Scheduler::anyInSlot(const Predicate &holds) const {
  return std::any_of(slots.begin(), slots.end(), [&](const auto &request) {
    return request && holds(*request);
  });
}

/// Returns the requests of a lane, older ones first.
std::vector<Request *> Scheduler::inLane(int64_t lane) {
  std::vector<Request *> requests;
  for (int64_t slot = 0; slot < sizes.slots; ++slot)
    if (Request *request = at(lane, slot))
      requests.push_back(request);
  std::sort(requests.begin(), requests.end(),
            [](Request *a, Request *b) { return a->id < b->id; });
  return requests;
}

/// Requests that have begun go on first; older prompts go before younger ones.
/// Of texts to score, only what is before the first label.
void Scheduler::addGoingOn(StepRows &step, int64_t lane) {
  auto goesOn = [](const Request &request) {
    return !request.isScored() && request.left() == 1;
  };
  for (int64_t slot = 0; slot < sizes.slots; ++slot)
    if (Request *request = at(lane, slot); request && goesOn(*request))
      addRows(step, lane, *request, 1);
  int64_t room = sizes.chunk;
  for (Request *request : inLane(lane)) {
    if (goesOn(*request))
      continue;
    const int64_t most = request->isScored()
                             ? std::max<int64_t>(0, request->leftOfPrompt())
                             : request->left();
    const int64_t count = std::min(room, most);
    addRows(step, lane, *request, count);
    room -= count;
  }
}

/// Adds texts that are scored, those at their labels first. A step takes as
/// long with fewer rows, so prompts of the others fill it.
void Scheduler::addScored(StepRows &step, int64_t lane) {
  int64_t room = sizes.mixedRows();
  for (bool isAtLabels : {true, false})
    for (Request *request : inLane(lane)) {
      if (!request->isScored() || (request->leftOfPrompt() <= 0) != isAtLabels)
        continue;
      const int64_t count = std::min(room, request->left());
      addRows(step, lane, *request, count);
      room -= count;
    }
}

StepRows Scheduler::plan() {
  StepRows step(sizes);
  const bool wantsScores = anyInSlot([](const Request &request) {
    return request.isScored() && request.leftOfPrompt() <= 0;
  });
  const bool goesOn =
      anyInSlot([](const Request &request) { return !request.isScored(); });
  step.scores = hasScored = wantsScores && !(goesOn && hasScored);
  for (int64_t lane = 0; lane < sizes.lanes; ++lane)
    if (step.scores)
      addScored(step, lane);
    else
      addGoingOn(step, lane);
  return step;
}

} // namespace tessera
