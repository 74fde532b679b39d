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

/// The lane with most free slots gets the next request.
void Scheduler::admit() {
  while (!queue.empty()) {
    int64_t best = -1, most = 0, free = -1;
    for (int64_t lane = 0; lane < sizes.lanes; ++lane) {
      int64_t count = 0, first = -1;
      for (int64_t slot = sizes.slots; slot-- > 0;)
        if (!at(lane, slot))
          ++count, first = slot;
      if (count > most)
        best = lane, most = count, free = first;
    }
    if (best < 0)
      return;
    std::unique_ptr<Request> &home = slots[best * sizes.slots + free];
    home = std::move(queue.front());
    queue.pop_front();
    home->lane = best;
    home->slot = free;
  }
}

void Scheduler::addRows(StepRows &step, int64_t lane, Request &request,
                        int64_t count) {
  std::vector<RowOfStep> &rows = step.rows[lane];
  for (int64_t k = 0; k < count; ++k)
    rows.push_back({request.id, request.slot, request.done + k,
                    request.tokens[request.done + k]});
  if (count == request.left())
    step.last[lane][request.slot] = static_cast<int32_t>(rows.size()) - 1;
}

/// Requests that have begun go on first; older prompts go before younger ones.
StepRows Scheduler::plan() {
  admit();
  StepRows step(sizes);
  for (int64_t lane = 0; lane < sizes.lanes; ++lane) {
    std::vector<Request *> prompts;
    for (int64_t slot = 0; slot < sizes.slots; ++slot) {
      Request *request = at(lane, slot);
      if (!request)
        continue;
      if (request->left() == 1)
        addRows(step, lane, *request, 1);
      else
        prompts.push_back(request);
    }
    std::sort(prompts.begin(), prompts.end(),
              [](Request *a, Request *b) { return a->id < b->id; });
    int64_t room = sizes.chunk;
    for (Request *request : prompts) {
      int64_t count = std::min(room, request->left());
      addRows(step, lane, *request, count);
      room -= count;
    }
  }
  return step;
}

} // namespace tessera
