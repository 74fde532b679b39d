//===- TraceTimes.h - what traces say of calls ------------------*- C++ -*-===//

#ifndef TESSERA_LIB_CALIBRATE_TRACETIMES_H
#define TESSERA_LIB_CALIBRATE_TRACETIMES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <map>
#include <vector>

namespace tessera {

/// The calls of traced steps of one program. Times are in seconds; ops are
/// numbered as in the trace.
class TraceTimes {
public:
  /// Adds a step; fails where the trace is malformed.
  llvm::Error add(llvm::StringRef text);
  bool isEmpty() const { return steps.empty(); }
  /// The median time of each op, of all ranks and steps.
  std::map<int64_t, double> medians() const;
  /// The same of the rank that was in the call for the shortest time: without
  /// waiting for others.
  std::map<int64_t, double> mediansOfLastRank() const;
  /// Returns the time that a rank's calls of `medians` took in a step, as a
  /// multiple of the sum of their medians: the median of all ranks and steps.
  /// It is above 1 where each step has some calls that are held up.
  double sumOverMedians(const std::map<int64_t, double> &medians) const;
  /// The median time from the end of a call to the beginning of the next one.
  double betweenCalls() const;

private:
  struct Event {
    int64_t op;
    double begin, seconds;
  };
  /// The calls of one rank in one step, in order.
  using RankStep = std::vector<Event>;

  std::vector<std::vector<RankStep>> steps; ///< Indexed by step and rank.
};

} // namespace tessera

#endif // TESSERA_LIB_CALIBRATE_TRACETIMES_H
