//===- StepRows.h - the rows of one step, and what must hold ----*- C++ -*-===//
// Types and erasure prove what a step computes of its rows; that the rows are
// right is the host's part, which is checked here in every step.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_GENERATE_STEPROWS_H
#define TESSERA_RUNTIME_GENERATE_STEPROWS_H

#include "runtime/artifact/Metadata.h"
#include "tessera/tessera.h"

#include <algorithm>
#include <vector>

namespace tessera {

/// A token of a request at its place. Request and slot -1: nobody's row.
struct RowOfStep {
  int64_t request, slot, position;
  int32_t token;
  int32_t label = -1; ///< The token that is scored after it; -1: none.

  bool isNobodys() const { return request < 0 && slot < 0; }
};

/// The rows that each lane runs, in order, and for each slot the row whose
/// logits are wanted, -1: none. A step that scores has labels and no logits.
struct StepRows {
  explicit StepRows(const Generation &sizes)
      : rows(sizes.lanes),
        last(sizes.lanes, std::vector<int32_t>(sizes.slots, -1)) {}

  std::vector<std::vector<RowOfStep>> rows;
  std::vector<std::vector<int32_t>> last;
  bool scores = false;

  /// Returns the rows of the lane with most.
  int64_t mostRows() const;
  /// Returns whether the step wants logits: a prompt that ends in other steps
  /// wants none.
  bool wantsLogits() const;
};

/// A source for a slot of a lane, which is encoded at once.
struct SourceOfStep {
  int64_t request, lane, slot;
  std::vector<int32_t> tokens;
};

/// Knows which positions of each slot have been appended, and what of sources.
class SlotGuard {
public:
  explicit SlotGuard(const Generation &sizes)
      : sizes(sizes), slots(sizes.lanes, std::vector<Slot>(sizes.slots)) {}

  /// Fails with `status` if a step would read what its request has not
  /// appended: positions follow on in their slot, from 0 for another request; a
  /// slot has one request; places are within the cache. Else takes note of the
  /// rows.
  void take(const StepRows &step, tsr_status status = TSR_INTERNAL);
  /// Lets `request` go on in slot `to` after `count` positions that slot `from`
  /// of the lane holds, which may be the same one. TSR_INTERNAL: it holds
  /// fewer.
  void fork(int64_t lane, int64_t from, int64_t to, int64_t count,
            int64_t request);
  /// A source of so many tokens has been encoded for a request's slot.
  void encoded(const SourceOfStep &source);
  /// The last position of a slot's source; 0 if there is none.
  int64_t lastOfSource(int64_t lane, int64_t slot) const {
    return std::max<int64_t>(0, slots[lane][slot].source - 1);
  }

private:
  struct Slot {
    int64_t request = -1, next = 0;
    int64_t source = 0, sourceOf = -1; ///< Tokens, and for which request.
  };
  Generation sizes;
  std::vector<std::vector<Slot>> slots;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_GENERATE_STEPROWS_H
