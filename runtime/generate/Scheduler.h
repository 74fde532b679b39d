//===- Scheduler.h - which requests run in a step ---------------*- C++ -*-===//
// Continuous batching (Yu et al. 2022, section 4.1): requests enter and leave
// between steps. A step runs the next token of every request that has begun and
// a chunk of prompts beside them (Agrawal et al. 2023); or it scores tokens.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_GENERATE_SCHEDULER_H
#define TESSERA_RUNTIME_GENERATE_SCHEDULER_H

#include "runtime/generate/Request.h"
#include "runtime/generate/StepRows.h"

#include <deque>
#include <memory>

namespace tessera {

/// The part of a slot that a request takes over when it gets one: the first
/// positions of a slot of its lane, perhaps its own, whose tokens are those of
/// its prompt.
struct Fork {
  int64_t request, lane, from, to, count;
};

class Scheduler {
public:
  explicit Scheduler(const Generation &sizes)
      : sizes(sizes), slots(sizes.lanes * sizes.slots), held(slots.size()) {}

  void add(std::unique_ptr<Request> request) {
    queue.push_back(std::move(request));
  }
  /// Finds a request; null if there is none, or it has ended.
  Request *find(int64_t id);
  /// Requests that wait or run.
  int64_t active() const;

  /// Gives free slots to requests that wait, in order. Each goes on after the
  /// longest beginning of its prompt that a slot holds; the forks are to be
  /// made in their order, before the next step. Where a prompt in each lane
  /// that has a free slot is about to run more of that beginning, it waits.
  std::vector<Fork> admit();
  /// Chooses rows. Where texts go on and others are at tokens to score, every
  /// other step scores.
  StepRows plan();
  /// Sources of requests in slots that no step has encoded; then they count as
  /// encoded.
  std::vector<SourceOfStep> takeSources();
  /// A step has run the request's rows up to a position.
  void ran(Request &request, int64_t position);
  /// Slots keep their contents for the requests that run in them, not for
  /// others.
  void forget();
  /// Returns the request of a slot; null: none.
  Request *at(int64_t lane, int64_t slot) {
    return slots[lane * sizes.slots + slot].get();
  }
  /// Ends a request that runs, or one that waits.
  std::unique_ptr<Request> remove(int64_t id);
  std::vector<int64_t> cancelled() const;

private:
  /// Tokens of the positions that a slot holds, for requests to come.
  struct Held {
    std::vector<int32_t> tokens;
    int64_t lastUse = 0;
  };
  struct Home {
    int64_t lane = -1, slot = -1, from = -1, count = 0;
  };
  Held &heldAt(int64_t lane, int64_t slot) {
    return held[lane * sizes.slots + slot];
  }
  Home homeFor(const Request &request);
  bool willHoldMore(const Home &home, const Request &request);
  void place(std::unique_ptr<Request> request, const Home &home,
             std::vector<Fork> &forks);
  Home sourceIn(int64_t lane, const Request &request);
  int64_t freeSlots(int64_t lane);
  int64_t oldestFree(int64_t lane, int64_t source);
  template <class Predicate> bool anyInSlot(const Predicate &holds) const;
  std::vector<Request *> inLane(int64_t lane);
  void addGoingOn(StepRows &step, int64_t lane);
  void addScored(StepRows &step, int64_t lane);
  void addRows(StepRows &step, int64_t lane, Request &request, int64_t count);

  Generation sizes;
  std::deque<std::unique_ptr<Request>> queue;
  std::vector<std::unique_ptr<Request>> slots; ///< Lane by lane; null: free.
  std::vector<Held> held;                      ///< One for each slot.
  int64_t uses = 0;
  bool hasScored = false; ///< The last step did.
};

} // namespace tessera

#endif // TESSERA_RUNTIME_GENERATE_SCHEDULER_H
