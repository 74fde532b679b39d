//===- RowExchange.cpp - rows of experts, from rank to rank ---------------===//

#include "runtime/collectives/RowExchange.h"

#include "runtime/support/DType.h"

#include <cstring>
#include <utility>

namespace tessera {

int64_t RowExchange::rowBytes() const {
  return call.count * dtypeBytes(call.dtype);
}

void RowExchange::clearRest(void *dst) const {
  if (filled < targetRows) // else dst may be null
    std::memset(static_cast<char *>(dst) + filled * rowBytes(), 0,
                (targetRows - filled) * rowBytes());
}

int64_t countRows(const RowRanges &ranges) {
  int64_t rows = 0;
  for (const RowRange &range : ranges)
    rows += range.count;
  return rows;
}

namespace {
/// The rows of one side in order, some of which move.
class RowWalk {
public:
  /// With a round only its rows move; `all`: the others are there too.
  RowWalk(const Routing &routing, int64_t round, bool all)
      : routing(routing), round(round), all(all) {}

  /// The rows of an expert and of some tokens come next.
  void walk(int64_t expert, int64_t firstToken, int64_t tokens, RowRanges &to);

  int64_t rows = 0; ///< so far

private:
  double gate(int64_t token, int64_t expert) const;

  const Routing &routing;
  int64_t round;
  bool all;
};
} // namespace

double RowWalk::gate(int64_t token, int64_t expert) const {
  const int64_t at = token * routing.experts + expert;
  return routing.isDouble ? static_cast<const double *>(routing.gates)[at]
                          : static_cast<const float *>(routing.gates)[at];
}

void RowWalk::walk(int64_t expert, int64_t firstToken, int64_t tokens,
                   RowRanges &to) {
  for (int64_t t = firstToken; t < firstToken + tokens; ++t) {
    const double number = gate(t, expert);
    const bool moves = round == 0 ? number != 0 : number == double(round);
    if (moves && !to.empty() && to.back().first + to.back().count == rows)
      ++to.back().count;
    else if (moves)
      to.push_back({rows, 1});
    rows += moves || (all && number != 0);
  }
}

/// Returns the rows of each of `members` equal parts of the experts.
static std::vector<RowRanges>
rowsByExperts(RowWalk &walk, const Routing &routing, int64_t members) {
  std::vector<RowRanges> parts(static_cast<size_t>(members));
  const int64_t own = routing.experts / members;
  for (int64_t x = 0; x < members * own; ++x)
    walk.walk(x, 0, routing.tokens, parts[static_cast<size_t>(x / own)]);
  return parts;
}

/// Returns the rows of each of `members` equal parts of the tokens.
static std::vector<RowRanges>
rowsByTokens(RowWalk &walk, const Routing &routing, int64_t members) {
  std::vector<RowRanges> parts(static_cast<size_t>(members));
  const int64_t own = routing.tokens / members;
  for (int64_t x = 0; x < routing.experts; ++x)
    for (int64_t member = 0; member < members; ++member)
      walk.walk(x, member * own, own, parts[static_cast<size_t>(member)]);
  return parts;
}

static int64_t countAll(const std::vector<RowRanges> &parts) {
  int64_t rows = 0;
  for (const RowRanges &part : parts)
    rows += countRows(part);
  return rows;
}

static Status checkRoom(int64_t rows, const RowSide &side) {
  if (rows <= side.rows)
    return {};
  return {TSR_INTERNAL,
          concat("gates route ", rows, " rows of ", side.routing.tokens,
                 " tokens, but the buffer "
                 "has ",
                 side.rows)};
}

Status makeRowExchange(const Collective &call, const RowSide &source,
                       const RowSide &target, RowExchange *out, int64_t round) {
  const bool toExperts = source.routing.experts > target.routing.experts;
  const auto [wide, narrow] =
      toExperts ? std::pair(source.routing.experts, target.routing.experts)
                : std::pair(target.routing.experts, source.routing.experts);
  const int64_t members = narrow > 0 ? wide / narrow : 0;
  if (members < 1)
    return {TSR_INTERNAL,
            concat("exchanges rows of ", source.routing.experts,
                   " experts for rows of ", target.routing.experts)};
  RowExchange made;
  made.call = call;
  RowWalk from(source.routing, round, toExperts);
  RowWalk to(target.routing, round, !toExperts);
  made.sent = toExperts ? rowsByExperts(from, source.routing, members)
                        : rowsByTokens(from, source.routing, members);
  made.received = toExperts ? rowsByTokens(to, target.routing, members)
                            : rowsByExperts(to, target.routing, members);
  made.arriving = countAll(made.received);
  made.filled = to.rows;
  made.targetRows = target.rows;
  if (Status status = checkRoom(from.rows, source); !status.ok())
    return status;
  if (Status status = checkRoom(made.filled, target); !status.ok())
    return status;
  *out = std::move(made);
  return {};
}

} // namespace tessera
