#include "runtime/generate/StepRows.h"

#include "runtime/support/Status.h"

#include <algorithm>

namespace tessera {

int64_t StepRows::mostRows() const {
  size_t most = 0;
  for (const auto &lane : rows)
    most = std::max(most, lane.size());
  return static_cast<int64_t>(most);
}

bool StepRows::wantsLogits() const {
  return std::any_of(last.begin(), last.end(), [](const auto &slots) {
    return std::any_of(slots.begin(), slots.end(),
                       [](int32_t row) { return row >= 0; });
  });
}

void SlotGuard::take(const StepRows &step, tsr_status status) {
  auto next = slots;
  for (size_t lane = 0; lane < step.rows.size(); ++lane)
    for (const RowOfStep &row : step.rows[lane]) {
      if (row.isNobodys())
        continue;
      auto refuse = [&](const auto &...why) {
        fail(status, "request ", row.request, " at position ", row.position,
             " of slot ", row.slot, " in lane ", lane, " ", why...);
      };
      if (row.slot < 0 || row.slot >= sizes.slots)
        refuse("is beyond the ", sizes.slots, " slots");
      if (row.position < 0 || row.position >= sizes.places)
        refuse("is beyond the ", sizes.places, " places");
      Slot &slot = next[lane][row.slot];
      if (slot.request != row.request && row.position != 0)
        refuse("does not begin at 0, the slot has request ", slot.request);
      if (slot.request == row.request && row.position != slot.next)
        refuse("does not follow on, the next position is ", slot.next);
      if (sizes.source > 0 && slot.sourceOf != row.request)
        refuse("has no source in its slot, which has that of request ",
               slot.sourceOf);
      slot.request = row.request;
      slot.next = row.position + 1;
    }
  slots = std::move(next);
}

void SlotGuard::fork(int64_t lane, int64_t from, int64_t to, int64_t count,
                     int64_t request) {
  if (count < 0 || count > slots[lane][from].next)
    fail(TSR_INTERNAL, "request ", request, " takes ", count,
         " positions of slot ", from, " in lane ", lane, ", which holds ",
         slots[lane][from].next);
  slots[lane][to].request = request;
  slots[lane][to].next = count;
}

void SlotGuard::encoded(const SourceOfStep &source) {
  Slot &slot = slots[source.lane][source.slot];
  slot.source = static_cast<int64_t>(source.tokens.size());
  slot.sourceOf = source.request;
}

} // namespace tessera
