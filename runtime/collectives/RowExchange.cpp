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

static int64_t countRouted(const Routing &routing, int64_t expert,
                           int64_t firstToken, int64_t tokens) {
  int64_t rows = 0;
  for (int64_t t = firstToken; t < firstToken + tokens; ++t)
    rows += routing.routes(t, expert);
  return rows;
}

std::vector<RowRanges> rowsByExperts(const Routing &routing, int64_t members) {
  std::vector<RowRanges> parts;
  const int64_t own = routing.experts / members;
  int64_t first = 0;
  for (int64_t member = 0; member < members; ++member) {
    int64_t rows = 0;
    for (int64_t x = member * own; x < (member + 1) * own; ++x)
      rows += countRouted(routing, x, 0, routing.tokens);
    parts.push_back({{first, rows}});
    first += rows;
  }
  return parts;
}

std::vector<RowRanges> rowsByTokens(const Routing &routing, int64_t members) {
  std::vector<RowRanges> parts(static_cast<size_t>(members));
  const int64_t own = routing.tokens / members;
  int64_t first = 0;
  for (int64_t x = 0; x < routing.experts; ++x)
    for (int64_t member = 0; member < members; ++member) {
      const int64_t rows = countRouted(routing, x, member * own, own);
      parts[static_cast<size_t>(member)].push_back({first, rows});
      first += rows;
    }
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
                       const RowSide &target, RowExchange *out) {
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
  made.sent = toExperts ? rowsByExperts(source.routing, members)
                        : rowsByTokens(source.routing, members);
  made.received = toExperts ? rowsByTokens(target.routing, members)
                            : rowsByExperts(target.routing, members);
  made.filled = countAll(made.received);
  made.targetRows = target.rows;
  if (Status status = checkRoom(countAll(made.sent), source); !status.ok())
    return status;
  if (Status status = checkRoom(made.filled, target); !status.ok())
    return status;
  *out = std::move(made);
  return {};
}

} // namespace tessera
