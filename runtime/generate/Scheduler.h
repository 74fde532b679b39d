//===- Scheduler.h - which requests run in a step ---------------*- C++ -*-===//
// Continuous batching (Yu et al. 2022, section 4.1): requests enter and leave
// between steps. A step runs the next token of every request that has begun and
// a chunk of prompts beside them (Agrawal et al. 2023).
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_GENERATE_SCHEDULER_H
#define TESSERA_RUNTIME_GENERATE_SCHEDULER_H

#include "runtime/generate/Request.h"
#include "runtime/generate/StepRows.h"

#include <deque>
#include <memory>

namespace tessera {

class Scheduler {
public:
  explicit Scheduler(const Generation &sizes)
      : sizes(sizes), slots(sizes.lanes * sizes.slots) {}

  void add(std::unique_ptr<Request> request) {
    queue.push_back(std::move(request));
  }
  /// Null: there is no such request, or it has ended.
  Request *find(int64_t id);
  /// Requests that wait or run.
  int64_t active() const;

  /// Gives free slots to requests that wait, in order, and chooses rows.
  StepRows plan();
  /// The request of a slot; null: none.
  Request *at(int64_t lane, int64_t slot) {
    return slots[lane * sizes.slots + slot].get();
  }
  /// Ends a request that runs, or one that waits.
  std::unique_ptr<Request> remove(int64_t id);
  std::vector<int64_t> cancelled() const;

private:
  void admit();
  void addRows(StepRows &step, int64_t lane, Request &request, int64_t count);

  Generation sizes;
  std::deque<std::unique_ptr<Request>> queue;
  std::vector<std::unique_ptr<Request>> slots; ///< Lane by lane; null: free.
};

} // namespace tessera

#endif // TESSERA_RUNTIME_GENERATE_SCHEDULER_H
