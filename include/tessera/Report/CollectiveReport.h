//===- CollectiveReport.h - what a program communicates ---------*- C++ -*-===//

#ifndef TESSERA_REPORT_COLLECTIVEREPORT_H
#define TESSERA_REPORT_COLLECTIVEREPORT_H

#include "tessera/Program/ProgramCall.h"
#include "tessera/Report/Windows.h"
#include <map>
#include <set>
#include <string>
#include <vector>

namespace tessera {

/// Equal collectives of equal layers, or those of buckets.
struct CollectiveGroup {
  /// `place` has a "#" for the number of the layer or bucket: "h.#.mlp".
  std::string kind, place, reason;
  program::Phase phase = program::Phase::Forward;
  std::vector<std::string> axes;
  bool isBucket = false;
  std::set<int64_t> numbers; ///< Layers or buckets have them; empty: in none.
  int64_t calls = 0;         ///< Per optimizer step, of all numbers.
  int64_t tensors = 0;       ///< These calls gather or scatter them.
  int64_t bytesOfCall = 0;   ///< The buffer, on each rank; of the largest.
  int64_t leastBytes = 0;    ///< The smallest call has them.
  int64_t bytesOfStep = 0;   ///< All calls have them.
  int64_t asyncCalls = 0;    ///< They are started early and waited for late.
  std::map<int64_t, std::vector<Window>> windows; ///< Those of these, by stage.
  /// A rank computes it beside them; with stages, the busiest one does.
  Work beside;
  bool isAlike(const CollectiveGroup &other) const;
  void add(const CollectiveGroup &other);
  std::string axesText() const; ///< "dp,tp".
  std::string where() const;    ///< "h.0-5.mlp".
};

/// Adds a collective or message, whose window is empty if it blocks.
void addCollective(std::vector<CollectiveGroup> &groups,
                   const program::Call &call, Window window);

/// Counts what a stage computes in the windows of its calls.
void addWorkBeside(std::vector<CollectiveGroup> &groups, int64_t stage,
                   const WorkInTime &work);

} // namespace tessera

#endif // TESSERA_REPORT_COLLECTIVEREPORT_H
