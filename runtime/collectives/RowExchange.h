//===- RowExchange.h - rows of experts, from rank to rank -------*- C++ -*-===//
// Compact rows are those that gates route, in order of experts and then of
// tokens. So a member's part of the experts is one range of rows of a rank's
// tokens; its part of the tokens is a range of the rows of each expert. Both
// sides know from their gates how many rows cross.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_ROWEXCHANGE_H
#define TESSERA_RUNTIME_COLLECTIVES_ROWEXCHANGE_H

#include "runtime/collectives/Communicator.h"

namespace tessera {

struct RowRange {
  int64_t first, count;
};
using RowRanges = std::vector<RowRange>;

/// One rank's side, by members of the group.
struct RowExchange {
  Collective call;                 ///< rows have `count` elements
  std::vector<RowRanges> sent;     ///< ranges in src, to each member
  std::vector<RowRanges> received; ///< ranges in dst, from each member
  int64_t arriving = 0;            ///< rows that somebody sends
  int64_t filled = 0;              ///< rows of dst that some round fills
  int64_t targetRows = 0;          ///< rows of dst; those after become zero

  int64_t rowBytes() const;
  /// Sets the rows of dst to zero that nobody sends.
  void clearRest(void *dst) const;
};

int64_t countRows(const RowRanges &ranges);

/// A side of an exchange: its gates, and how many rows its buffer has.
struct RowSide {
  Routing routing;
  int64_t rows = 0;
};

/// One side has the experts of all members, the other their tokens. Refuses
/// gates that route more rows than a buffer has. With a round gates are numbers
/// of rounds: only its rows move, and the side of the experts has no others.
Status makeRowExchange(const Collective &call, const RowSide &source,
                       const RowSide &target, RowExchange *out,
                       int64_t round = 0);

} // namespace tessera

#endif // TESSERA_RUNTIME_COLLECTIVES_ROWEXCHANGE_H
