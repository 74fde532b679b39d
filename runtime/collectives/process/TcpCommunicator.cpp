#include "runtime/collectives/process/TcpCommunicator.h"

#include "runtime/collectives/Reduce.h"
#include "runtime/collectives/RowExchange.h"
#include "runtime/collectives/Slices.h"
#include "runtime/support/DType.h"
#include "runtime/support/ThreadTeam.h"

#include <algorithm>
#include <cstring>

namespace tessera {

namespace {
// Up to this many bytes everyone gets everything at once: one exchange instead
// of two.
constexpr int64_t wholeBytes = 4096;

std::string differentCall(const ProcessWorld &world, const TcpCall &own,
                          const Offer &theirs, int64_t peer) {
  if (sameCall(world.options().mesh, own.offer, theirs))
    return "";
  return describeDisagreement(own.where.substr(std::strlen("over ")),
                              world.options().rank, own.offer, peer, theirs);
}

std::string differentMessage(const ProcessWorld &, const TcpCall &own,
                             const Offer &theirs, int64_t) {
  bool sends = std::strcmp(own.offer.kind, "send") == 0;
  if (own.offer.call.count == theirs.call.count &&
      std::strcmp(theirs.kind, sends ? "receive" : "send") == 0)
    return "";
  return describeLengths(own.where, own.offer, theirs);
}

/// Elements [begin, end) of a member's part.
struct Part {
  int64_t begin, end;
};
Part partOf(int64_t count, int64_t size, int64_t member) {
  int64_t part = (count + size - 1) / size;
  part = (part + partElements - 1) / partElements * partElements;
  int64_t begin = std::min(member * part, count);
  return {begin, std::min(begin + part, count)};
}

/// targets[0][i] = reduction of sources[s][i] for i < count, on some threads.
void reduceOn(int threads, const Reduction &what, int64_t count,
              const std::vector<void *> &targets) {
  int64_t bytes = count * dtypeBytes(what.dtype) * what.sources.size();
  int64_t pieces =
      std::clamp<int64_t>(bytes / threadBytes, 1, std::max(threads, 1));
  inParallel(static_cast<int>(pieces), [&](int64_t piece) {
    reduceRange(what, count * piece / pieces, count * (piece + 1) / pieces,
                targets, 0);
  });
}

/// Copies `outer` rows of `bytes`, from one stride to another. Without rows
/// both may be null, which memcpy must not get.
void copyRows(int64_t outer, int64_t bytes, const void *src, int64_t srcStride,
              void *dst, int64_t dstStride) {
  if (bytes == 0)
    return;
  for (int64_t row = 0; row < outer; ++row)
    std::memcpy(static_cast<char *>(dst) + row * dstStride,
                static_cast<const char *>(src) + row * srcStride, bytes);
}
} // namespace

TcpCommunicator::TcpCommunicator(std::shared_ptr<ProcessWorld> shared,
                                 int threads, Lane lane)
    : WorldCommunicator(std::move(shared), lane, threads) {}

const TcpCommunicator::Group &TcpCommunicator::groupOf(int64_t axes) {
  Group &group = groups[axes];
  if (group.ranks.empty()) {
    group.ranks = world->options().mesh.group(world->options().rank, axes);
    group.member = std::find(group.ranks.begin(), group.ranks.end(),
                             world->options().rank) -
                   group.ranks.begin();
  }
  return group;
}

unsigned char *TcpCommunicator::scratch(int64_t bytes) {
  if (static_cast<int64_t>(space.size()) < bytes)
    space.resize(bytes);
  return space.data();
}

/// Checks before anything is sent.
Status TcpCommunicator::start(const Group &group, const Offer &offer) {
  if (world->failed())
    return world->failure();
  reached(offer.call.op);
  bool isRoot = offer.root >= 0 && offer.root < group.size();
  if (!isKnown(offer.call) || !isRoot)
    world->abort(
        {TSR_INTERNAL,
         concat("rank ", world->options().rank, " called an illegal ",
                describeOffer(offer), " of ", group.size(), " members")});
  return world->failure();
}

Status TcpCommunicator::exchangeAs(const Offer &offer,
                                   const std::vector<Transfer> &transfers) {
  TcpCall call{offer, "over " + world->options().mesh.describe(offer.call.axes),
               lane, differentCall};
  return exchange(*world, call, transfers);
}

/// Everyone gets all buffers and adds for itself.
Status TcpCommunicator::reduceWhole(const Group &group, const Collective &call,
                                    void *data) {
  int64_t bytes = call.count * dtypeBytes(call.dtype);
  unsigned char *all = scratch(bytes * group.size());
  std::vector<Transfer> transfers;
  std::vector<const void *> sources;
  for (int64_t i = 0; i < group.size(); ++i) {
    bool own = i == group.member;
    sources.push_back(own ? data : all + i * bytes);
    if (!own)
      transfers.push_back(
          {group.ranks[i], data, bytes, all + i * bytes, bytes});
  }
  if (Status status = exchangeAs({"all_reduce", call}, transfers); !status.ok())
    return status;
  reduceRange({call.dtype, call.reduction, sources}, 0, call.count, {data}, 0);
  return {};
}

/// Each member adds one part of all buffers and sends it to all.
Status TcpCommunicator::reduceParts(const Group &group, const Collective &call,
                                    void *data) {
  int64_t element = dtypeBytes(call.dtype), size = group.size();
  auto *bytes = static_cast<unsigned char *>(data);
  Part own = partOf(call.count, size, group.member);
  int64_t ownBytes = (own.end - own.begin) * element;
  unsigned char *ownData = bytes + own.begin * element;
  unsigned char *all = scratch(ownBytes * size);
  std::vector<Transfer> partials, sums;
  std::vector<const void *> sources;
  for (int64_t i = 0; i < size; ++i) {
    sources.push_back(i == group.member ? ownData : all + i * ownBytes);
    if (i == group.member)
      continue;
    Part part = partOf(call.count, size, i);
    unsigned char *at = bytes + part.begin * element;
    int64_t length = (part.end - part.begin) * element;
    partials.push_back(
        {group.ranks[i], at, length, all + i * ownBytes, ownBytes});
    sums.push_back({group.ranks[i], ownData, ownBytes, at, length});
  }
  if (Status status = exchangeAs({"all_reduce", call}, partials); !status.ok())
    return status;
  reduceOn(threads, {call.dtype, call.reduction, sources}, own.end - own.begin,
           {ownData});
  return exchangeAs({"all_reduce", call}, sums);
}

Status TcpCommunicator::allReduce(const Collective &call, void *data) {
  const Group &group = groupOf(call.axes);
  if (Status status = start(group, {"all_reduce", call});
      !status.ok() || group.size() == 1)
    return status;
  return call.count * dtypeBytes(call.dtype) <= wholeBytes
             ? reduceWhole(group, call, data)
             : reduceParts(group, call, data);
}

Status TcpCommunicator::allGather(const Collective &call, const void *src,
                                  void *dst) {
  const Group &group = groupOf(call.axes);
  if (Status status = start(group, {"all_gather", call}); !status.ok())
    return status;
  int64_t row = call.count * dtypeBytes(call.dtype), bytes = call.outer * row;
  auto *to = static_cast<unsigned char *>(dst);
  bool direct = call.outer == 1;
  unsigned char *all = direct ? to : scratch(bytes * group.size());
  std::vector<Transfer> transfers;
  for (int64_t i = 0; i < group.size(); ++i)
    if (i != group.member)
      transfers.push_back({group.ranks[i], src, bytes, all + i * bytes, bytes});
  if (Status status = exchangeAs({"all_gather", call}, transfers); !status.ok())
    return status;
  for (int64_t i = 0; i < group.size(); ++i) {
    const void *from = i == group.member ? src : all + i * bytes;
    if (from != to + i * row) // else it is already in its place
      copyRows(call.outer, row, from, row, to + i * row, group.size() * row);
  }
  return {};
}

Status TcpCommunicator::reduceScatter(const Collective &call, const void *src,
                                      void *dst) {
  const Group &group = groupOf(call.axes);
  if (Status status = start(group, {"reduce_scatter", call}); !status.ok())
    return status;
  int64_t row = call.count * dtypeBytes(call.dtype), bytes = call.outer * row;
  int64_t size = group.size();
  auto *from = static_cast<const unsigned char *>(src);
  // Members' rows in one piece: what goes out, then what comes in.
  unsigned char *packed = scratch(2 * size * bytes);
  unsigned char *arrived = packed + size * bytes;
  std::vector<Transfer> transfers;
  std::vector<const void *> sources;
  for (int64_t i = 0; i < size; ++i) {
    const unsigned char *out = packed + i * bytes;
    if (call.outer == 1)
      out = from + i * row;
    else
      copyRows(call.outer, row, from + i * row, size * row, packed + i * bytes,
               row);
    bool own = i == group.member;
    sources.push_back(own ? out : arrived + i * bytes);
    if (!own)
      transfers.push_back(
          {group.ranks[i], out, bytes, arrived + i * bytes, bytes});
  }
  if (Status status = exchangeAs({"reduce_scatter", call}, transfers);
      !status.ok())
    return status;
  reduceOn(threads, {call.dtype, call.reduction, sources},
           call.outer * call.count, {dst});
  return {};
}

Status TcpCommunicator::allToAll(const Collective &call, const void *src,
                                 void *dst) {
  const Group &group = groupOf(call.axes);
  if (Status status = start(group, {"all_to_all", call}); !status.ok())
    return status;
  Slices from = sourceSlices(call, dtypeBytes(call.dtype));
  Slices to = targetSlices(call, dtypeBytes(call.dtype));
  int64_t size = group.size(), bytes = from.total();
  unsigned char *packed = scratch(2 * size * bytes);
  unsigned char *arrived = packed + size * bytes;
  std::vector<Transfer> transfers;
  for (int64_t i = 0; i < size; ++i) {
    bool own = i == group.member;
    unsigned char *out = (own ? arrived : packed) + i * bytes;
    copyRows(from.count, from.bytes,
             static_cast<const char *>(src) + i * from.bytes, size * from.bytes,
             out, from.bytes);
    if (!own)
      transfers.push_back(
          {group.ranks[i], out, bytes, arrived + i * bytes, bytes});
  }
  if (Status status = exchangeAs({"all_to_all", call}, transfers); !status.ok())
    return status;
  for (int64_t i = 0; i < size; ++i)
    copyRows(to.count, to.bytes, arrived + i * bytes, to.bytes,
             static_cast<char *>(dst) + i * to.bytes, size * to.bytes);
  // A sender does not know the gates of those who get its rows: all travel.
  call.routing.clearUnsent(dst, dtypeBytes(call.dtype));
  return {};
}

/// The rows of ranges, in order, and their place in one piece. A buffer without
/// rows may be null, which memcpy must not get.
static unsigned char *packRows(const RowRanges &ranges, const void *rows,
                               int64_t bytes, unsigned char *to) {
  for (const RowRange &range : ranges) {
    if (range.count == 0)
      continue;
    std::memcpy(to, static_cast<const char *>(rows) + range.first * bytes,
                range.count * bytes);
    to += range.count * bytes;
  }
  return to;
}

static const unsigned char *unpackRows(const RowRanges &ranges,
                                       const unsigned char *from, int64_t bytes,
                                       void *rows) {
  for (const RowRange &range : ranges) {
    if (range.count == 0)
      continue;
    std::memcpy(static_cast<char *>(rows) + range.first * bytes, from,
                range.count * bytes);
    from += range.count * bytes;
  }
  return from;
}

Status TcpCommunicator::exchangeRows(const RowExchange &exchange,
                                     const void *src, void *dst) {
  const Group &group = groupOf(exchange.call.axes);
  const Offer offer{"exchange_rows", exchange.call};
  if (Status status = start(group, offer); !status.ok())
    return status;
  const auto size = static_cast<size_t>(group.size());
  if (exchange.sent.size() != size || exchange.received.size() != size)
    return {TSR_INTERNAL, concat("exchange_rows among ", exchange.sent.size(),
                                 " members of a group of ", size)};
  const int64_t bytes = exchange.rowBytes();
  int64_t sent = 0;
  for (const RowRanges &ranges : exchange.sent)
    sent += countRows(ranges) * bytes;
  unsigned char *out = scratch(sent + exchange.arriving * bytes);
  unsigned char *arrived = out + sent, *in = arrived;
  std::vector<Transfer> transfers;
  for (size_t i = 0; i < size; ++i) {
    const int64_t inBytes = countRows(exchange.received[i]) * bytes;
    if (static_cast<int64_t>(i) == group.member) {
      packRows(exchange.sent[i], src, bytes, in);
    } else {
      unsigned char *end = packRows(exchange.sent[i], src, bytes, out);
      transfers.push_back({group.ranks[i], out, end - out, in, inBytes});
      out = end;
    }
    in += inBytes;
  }
  if (Status status = exchangeAs(offer, transfers); !status.ok())
    return status;
  const unsigned char *from = arrived;
  for (const RowRanges &ranges : exchange.received)
    from = unpackRows(ranges, from, bytes, dst);
  exchange.clearRest(dst);
  return {};
}

Status TcpCommunicator::broadcast(const Collective &call, int64_t root,
                                  void *data) {
  const Group &group = groupOf(call.axes);
  Offer offer{"broadcast", call, root};
  if (Status status = start(group, offer); !status.ok())
    return status;
  int64_t bytes = call.count * dtypeBytes(call.dtype);
  std::vector<Transfer> transfers;
  for (int64_t i = 0; i < group.size(); ++i) {
    Transfer transfer{group.ranks[i]};
    if (group.member == root)
      transfer.out = data, transfer.outBytes = bytes;
    else if (i == root)
      transfer.in = data, transfer.inBytes = bytes;
    if (i != group.member)
      transfers.push_back(transfer);
  }
  return exchangeAs(offer, transfers);
}

Status TcpCommunicator::barrier(const Collective &call) {
  const Group &group = groupOf(call.axes);
  Offer offer{"barrier", call};
  if (Status status = start(group, offer); !status.ok())
    return status;
  std::vector<Transfer> transfers;
  for (int64_t i = 0; i < group.size(); ++i)
    if (i != group.member)
      transfers.push_back({group.ranks[i]});
  return exchangeAs(offer, transfers);
}

Status TcpCommunicator::message(const char *kind, const Message &message,
                                Transfer transfer) {
  int64_t own = world->options().rank;
  if (Status status = checkMessage(world->options().mesh, own, message);
      !status.ok())
    world->abort(status);
  if (world->failed())
    return world->failure();
  reached(message.op);
  bool sends = std::strcmp(kind, "send") == 0;
  TcpCall call{
      {kind, {}},
      describeWay(sends ? own : message.peer, sends ? message.peer : own),
      lane,
      differentMessage};
  call.offer.call.op = message.op;
  call.offer.call.count = message.bytes;
  transfer.peer = message.peer;
  return exchange(*world, call, {transfer});
}

Status TcpCommunicator::send(const Message &what, const void *data) {
  return message("send", what, {what.peer, data, what.bytes});
}

Status TcpCommunicator::receive(const Message &what, void *data) {
  return message("receive", what, {what.peer, nullptr, 0, data, what.bytes});
}

} // namespace tessera
