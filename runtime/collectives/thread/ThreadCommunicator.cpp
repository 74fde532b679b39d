#include "runtime/collectives/thread/ThreadCommunicator.h"

#include "runtime/collectives/Reduce.h"
#include "runtime/collectives/RowExchange.h"
#include "runtime/support/DType.h"
#include "runtime/support/ThreadTeam.h"

#include <algorithm>
#include <cstring>

namespace tessera {

namespace {
/// body(begin, end) over [0, count) on `threads` threads.
template <class Body>
void splitOver(int threads, int64_t count, int64_t bytes, const Body &body) {
  int64_t pieces =
      std::clamp<int64_t>(bytes / threadBytes, 1, std::max(threads, 1));
  int64_t length = (count + pieces - 1) / pieces;
  length = (length + partElements - 1) / partElements * partElements;
  inParallel(static_cast<int>(pieces), [&](int64_t piece) {
    int64_t begin = std::min(piece * length, count);
    int64_t end = std::min(begin + length, count);
    if (begin < end)
      body(begin, end);
  });
}

} // namespace

ThreadCommunicator::ThreadCommunicator(
    const std::shared_ptr<ThreadWorld> &shared, int64_t rank, Lane lane)
    : WorldCommunicator(shared, lane, shared->options().threadsPerRank),
      rank(rank), barriers(*world, rank, lane),
      messages(*world, rank, lane, threads) {}

Status ThreadCommunicator::allReduce(const Collective &call, void *data) {
  RankBarriers::Seat seat = barriers.seatOf(call.axes);
  if (seat.group->size() == 1)
    return world->failure();
  if (Status status = barriers.enter(seat, {"all_reduce", call, 0, data});
      !status.ok())
    return status;
  // This rank's part: nobody else reads or writes it.
  int64_t size = seat.group->size();
  int64_t part = (call.count + size - 1) / size;
  part = (part + partElements - 1) / partElements * partElements;
  int64_t begin = std::min(seat.member * part, call.count);
  int64_t end = std::min(begin + part, call.count);
  std::vector<const void *> sources = seat.offeredData();
  std::vector<void *> targets;
  for (const void *source : sources)
    targets.push_back(const_cast<void *>(source));
  Reduction what{call.dtype, call.reduction, sources};
  splitOver(threads, end - begin, (end - begin) * dtypeBytes(call.dtype) * size,
            [&](int64_t from, int64_t to) {
              reduceRange(what, begin + from, begin + to, targets, 0);
            });
  return barriers.leave(seat);
}

/// Puts all members' sources side by side.
void ThreadCommunicator::gather(const Collective &call,
                                const std::vector<const void *> &sources,
                                void *dst) const {
  auto size = static_cast<int64_t>(sources.size());
  int64_t bytes = call.count * dtypeBytes(call.dtype);
  int64_t rows = call.outer * size;
  int pieces = rows * bytes < threadBytes ? 1 : std::max(threads, 1);
  inParallel(pieces, [&](int64_t piece) {
    for (int64_t row = rows * piece / pieces; row < rows * (piece + 1) / pieces;
         ++row) {
      const char *from = static_cast<const char *>(sources[row % size]);
      const char *source = from + row / size * bytes;
      char *target = static_cast<char *>(dst) + row * bytes;
      if (target != source) // the own part may lie where it belongs already
        std::memcpy(target, source, bytes);
    }
  });
}

Status ThreadCommunicator::allGather(const Collective &call, const void *src,
                                     void *dst) {
  RankBarriers::Seat seat = barriers.seatOf(call.axes);
  Offer offer{"all_gather", call, 0, const_cast<void *>(src)};
  if (Status status = barriers.enter(seat, offer); !status.ok())
    return status;
  gather(call, seat.offeredData(), dst);
  return barriers.leave(seat);
}

/// Computes the member's part of the sources' sum.
void ThreadCommunicator::scatter(const Collective &call, int64_t member,
                                 const std::vector<const void *> &sources,
                                 void *dst) const {
  auto size = static_cast<int64_t>(sources.size());
  int64_t element = dtypeBytes(call.dtype);
  Reduction what{call.dtype, call.reduction, sources};
  for (int64_t row = 0; row < call.outer; ++row) {
    int64_t first = (row * size + member) * call.count;
    std::vector<void *> target{static_cast<char *>(dst) +
                               row * call.count * element};
    splitOver(threads, call.count, call.count * element * size,
              [&](int64_t from, int64_t to) {
                reduceRange(what, first + from, first + to, target, first);
              });
  }
}

Status ThreadCommunicator::reduceScatter(const Collective &call,
                                         const void *src, void *dst) {
  RankBarriers::Seat seat = barriers.seatOf(call.axes);
  Offer offer{"reduce_scatter", call, 0, const_cast<void *>(src)};
  if (Status status = barriers.enter(seat, offer); !status.ok())
    return status;
  scatter(call, seat.member, seat.offeredData(), dst);
  return barriers.leave(seat);
}

/// Offers the places of the members' buffers.
Status ThreadCommunicator::allGatherCoalesced(const Coalesced &what) {
  RankBarriers::Seat seat = barriers.seatOf(what.call.axes);
  if (Status status = barriers.enter(
          seat, RankBarriers::offerOf("all_gather_coalesced", what));
      !status.ok())
    return status;
  for (size_t k = 0; k < what.members.size(); ++k)
    gather(what.members[k].call, seat.offeredSources(k),
           what.members[k].result);
  return barriers.leave(seat);
}

Status ThreadCommunicator::reduceScatterCoalesced(const Coalesced &what) {
  RankBarriers::Seat seat = barriers.seatOf(what.call.axes);
  if (Status status = barriers.enter(
          seat, RankBarriers::offerOf("reduce_scatter_coalesced", what));
      !status.ok())
    return status;
  for (size_t k = 0; k < what.members.size(); ++k)
    scatter(what.members[k].call, seat.member, seat.offeredSources(k),
            what.members[k].result);
  return barriers.leave(seat);
}

/// Copies a piece that starts `at` bytes into the result; of a routed one only
/// the rows that are sent.
static void copyRouted(const Collective &call, char *result, int64_t at,
                       const char *source, int64_t bytes) {
  if (!call.routing.gates) {
    std::memcpy(result + at, source, bytes);
    return;
  }
  const Routing &routing = call.routing;
  int64_t rowBytes = routing.rowElements * dtypeBytes(call.dtype);
  for (int64_t begin = 0; begin < bytes; begin += rowBytes)
    if (routing.sends((at + begin) / rowBytes))
      std::memcpy(result + at + begin, source + begin, rowBytes);
    else
      std::memset(result + at + begin, 0, rowBytes);
}

Status ThreadCommunicator::allToAll(const Collective &call, const void *src,
                                    void *dst) {
  RankBarriers::Seat seat = barriers.seatOf(call.axes);
  Offer offer{"all_to_all", call, 0, const_cast<void *>(src)};
  if (Status status = barriers.enter(seat, offer); !status.ok())
    return status;
  int64_t size = seat.group->size();
  int64_t bytes = call.count * dtypeBytes(call.dtype);
  // Strides of a member's and of a row's piece, in pieces.
  int64_t rowsInner = 1, membersOuter = call.rows;
  int64_t rowsOuter = size, membersInner = 1;
  std::vector<const void *> sources = seat.offeredData();
  int64_t from = call.gathersOuter ? rowsOuter : rowsInner;
  int64_t to = call.gathersOuter ? rowsInner : rowsOuter;
  int64_t mine =
      seat.member * (call.gathersOuter ? membersInner : membersOuter);
  int64_t theirs = call.gathersOuter ? membersOuter : membersInner;
  splitOver(threads, call.outer * size, call.outer * size * call.rows * bytes,
            [&](int64_t begin, int64_t end) {
              for (int64_t part = begin; part < end; ++part) {
                int64_t outer = part / size, k = part % size;
                int64_t base = outer * size * call.rows;
                auto *source = static_cast<const char *>(sources[k]);
                auto *target = static_cast<char *>(dst);
                for (int64_t row = 0; row < call.rows; ++row) {
                  int64_t at = (base + k * theirs + row * to) * bytes;
                  copyRouted(call, target, at,
                             source + (base + mine + row * from) * bytes,
                             bytes);
                }
              }
            });
  return barriers.leave(seat);
}

namespace {
/// Copies rows in order, from ranges to ranges.
void copyRanges(const RowRanges &from, const char *source, const RowRanges &to,
                char *target, int64_t rowBytes) {
  size_t next = 0;
  int64_t used = 0; // elements of from[next]
  for (RowRange range : to)
    while (range.count > 0) {
      const RowRange &have = from[next];
      const int64_t rows = std::min(range.count, have.count - used);
      std::memcpy(target + range.first * rowBytes,
                  source + (have.first + used) * rowBytes, rows * rowBytes);
      range.first += rows, range.count -= rows, used += rows;
      if (used == have.count)
        ++next, used = 0;
    }
}
} // namespace

Status ThreadCommunicator::exchangeRows(const RowExchange &exchange,
                                        const void *src, void *dst) {
  if (world->failed()) // others may still read what was offered
    return world->failure();
  offered = {exchange.sent, static_cast<const char *>(src)};
  RankBarriers::Seat seat = barriers.seatOf(exchange.call.axes);
  if (Status status =
          barriers.enter(seat, {"exchange_rows", exchange.call, 0, &offered});
      !status.ok())
    return status;
  const auto size = static_cast<size_t>(seat.group->size());
  const auto member = static_cast<size_t>(seat.member);
  const int64_t bytes = exchange.rowBytes();
  std::vector<const OfferedRows *> others;
  for (const void *data : seat.offeredData()) {
    others.push_back(static_cast<const OfferedRows *>(data));
    const std::vector<RowRanges> &sent = others.back()->sent;
    if (sent.size() == size && exchange.received.size() == size &&
        countRows(sent[member]) ==
            countRows(exchange.received[others.size() - 1]))
      continue;
    world->abort({TSR_INTERNAL,
                  concat("exchange_rows of op ", exchange.call.op, ": member ",
                         others.size() - 1, " sends other rows than member ",
                         member, " expects")});
    return world->failure();
  }
  char *target = static_cast<char *>(dst);
  splitOver(threads, seat.group->size(), exchange.arriving * bytes,
            [&](int64_t begin, int64_t end) {
              for (auto k = static_cast<size_t>(begin);
                   k < static_cast<size_t>(end); ++k)
                copyRanges(others[k]->sent[member], others[k]->rows,
                           exchange.received[k], target, bytes);
            });
  exchange.clearRest(dst);
  return barriers.leave(seat);
}

Status ThreadCommunicator::broadcast(const Collective &call, int64_t root,
                                     void *data) {
  RankBarriers::Seat seat = barriers.seatOf(call.axes);
  if (root < 0 || root >= seat.group->size()) {
    world->abort({TSR_INTERNAL,
                  concat("broadcast of op ", call.op, " from ", root,
                         ", the group has ", seat.group->size(), " members")});
    return world->failure();
  }
  if (Status status = barriers.enter(seat, {"broadcast", call, root, data});
      !status.ok())
    return status;
  if (seat.member != root)
    std::memcpy(data, seat.group->offer(root).data,
                call.count * dtypeBytes(call.dtype));
  return barriers.leave(seat);
}

Status ThreadCommunicator::shift(const Shift &shift, const void *src,
                                 void *dst) {
  const Collective &call = shift.call;
  RankBarriers::Seat seat = barriers.seatOf(call.axes);
  Offer offer{"shift", call, 0, const_cast<void *>(src)};
  if (Status status = barriers.enter(seat, offer); !status.ok())
    return status;
  int64_t size = seat.group->size(), element = dtypeBytes(call.dtype);
  int64_t before = (seat.member + size - shift.distance) % size;
  const char *from = static_cast<const char *>(seat.offeredData()[before]);
  splitOver(threads, call.count, call.count * element,
            [&](int64_t begin, int64_t end) {
              std::memcpy(static_cast<char *>(dst) + begin * element,
                          from + begin * element, (end - begin) * element);
            });
  return barriers.leave(seat);
}

/// Copies to each member what it gets from the others' buffers.
Status ThreadCommunicator::zigzag(const Zigzag &zigzag,
                                  const ZigzagBuffers &buffers) {
  const Collective &call = zigzag.call;
  RankBarriers::Seat seat = barriers.seatOf(call.axes);
  const char *kind = zigzag.makesWhole ? "zigzag to slices" : "zigzag";
  Offer offer{kind, call, 0, const_cast<ZigzagBuffers *>(&buffers)};
  if (Status status = barriers.enter(seat, offer); !status.ok())
    return status;
  const int64_t bytes = call.count * dtypeBytes(call.dtype);
  std::vector<const void *> offered = seat.offeredData();
  auto buffersOf = [&](int64_t member) -> const ZigzagBuffers & {
    return *static_cast<const ZigzagBuffers *>(offered[size_t(member)]);
  };
  for (int64_t number = 0; number < 2 * zigzag.size(); ++number) {
    const int64_t slice = Zigzag::slicedAt(number);
    const int64_t pair = zigzag.pairedAt(number);
    if ((zigzag.makesWhole ? slice : pair) != zigzag.member)
      continue;
    char *half =
        static_cast<char *>(buffersOf(slice).whole) + number % 2 * bytes;
    auto *chunk =
        static_cast<char *>(buffersOf(pair).chunk(zigzag.isEarly(number)));
    splitOver(threads, call.outer, call.outer * bytes,
              [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i)
                  if (zigzag.makesWhole)
                    std::memcpy(half + 2 * i * bytes, chunk + i * bytes, bytes);
                  else
                    std::memcpy(chunk + i * bytes, half + 2 * i * bytes, bytes);
              });
  }
  return barriers.leave(seat);
}

Status ThreadCommunicator::barrier(const Collective &call) {
  RankBarriers::Seat seat = barriers.seatOf(call.axes);
  if (Status status = barriers.enter(seat, {"barrier", call, 0, nullptr});
      !status.ok())
    return status;
  return barriers.leave(seat);
}

Status ThreadCommunicator::send(const Message &message, const void *data) {
  return finish(*startSend(message, data));
}

Status ThreadCommunicator::receive(const Message &message, void *data) {
  return finish(*startReceive(message, data));
}

std::shared_ptr<StartedMessage>
ThreadCommunicator::startSend(const Message &message, const void *data) {
  return messages.post(PostedMessage::Sender, message,
                       const_cast<void *>(data));
}

std::shared_ptr<StartedMessage>
ThreadCommunicator::startReceive(const Message &message, void *data) {
  return messages.post(PostedMessage::Receiver, message, data);
}

Status ThreadCommunicator::finish(StartedMessage &message) {
  return messages.finish(static_cast<PostedMessage &>(message));
}

} // namespace tessera
