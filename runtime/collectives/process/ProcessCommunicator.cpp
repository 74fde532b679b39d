#include "runtime/collectives/process/ProcessCommunicator.h"

#include "runtime/collectives/RowExchange.h"
#include "runtime/collectives/Slices.h"
#include "runtime/collectives/process/HostSums.h"
#include "runtime/collectives/process/Rounds.h"
#include "runtime/support/DType.h"

#include <algorithm>
#include <cstring>

namespace tessera {

namespace {
// Up to this many bytes everyone gets everything at once: one exchange instead
// of two.
constexpr int64_t wholeBytes = 4096;
// From this many members on few bytes go in rounds: with fewer, the messages of
// one exchange cost less than its rounds' waits.
constexpr int64_t roundsMembers = 8;

bool goesInRounds(const CallGroup &group, int64_t bytes) {
  return group.size() >= roundsMembers && bytes <= wholeBytes;
}

std::string differentCall(const ProcessWorld &world, const ProcessCall &own,
                          const Offer &theirs, int64_t peer) {
  if (sameCall(world.options().mesh, own.offer, theirs))
    return "";
  return describeDisagreement(own.where.substr(std::strlen("over ")),
                              world.options().rank, own.offer, peer, theirs);
}

std::string differentMessage(const ProcessWorld &, const ProcessCall &own,
                             const Offer &theirs, int64_t) {
  bool sends = std::strcmp(own.offer.kind, "send") == 0;
  if (own.offer.call.count == theirs.call.count &&
      std::strcmp(theirs.kind, sends ? "receive" : "send") == 0)
    return "";
  return describeLengths(own.where, own.offer, theirs);
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

ProcessCommunicator::ProcessCommunicator(std::shared_ptr<ProcessWorld> shared,
                                         int threads, Lane lane)
    : WorldCommunicator(std::move(shared), lane, threads) {}

const CallGroup &ProcessCommunicator::groupOf(int64_t axes) {
  CallGroup &group = groups[axes];
  if (group.ranks.empty()) {
    group.ranks = world->options().mesh.group(world->options().rank, axes);
    group.member = std::find(group.ranks.begin(), group.ranks.end(),
                             world->options().rank) -
                   group.ranks.begin();
    std::vector<int64_t> hosts;
    for (int64_t rank : group.ranks)
      hosts.push_back(world->hosts()[static_cast<size_t>(rank)]);
    group.hosts = HostTree(hosts);
  }
  return group;
}

/// Checks before anything is sent.
Status ProcessCommunicator::start(const CallGroup &group, const Offer &offer) {
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

GroupCall ProcessCommunicator::callOf(const CallGroup &group,
                                      const Offer &offer) {
  scratch.reset();
  return {*world,
          group,
          {offer, "over " + world->options().mesh.describe(offer.call.axes),
           lane, differentCall}};
}

/// Everyone gets all buffers and adds for itself.
Status ProcessCommunicator::reduceWhole(const CallGroup &group,
                                        const Collective &call, void *data) {
  int64_t bytes = call.count * dtypeBytes(call.dtype);
  GroupCall together = callOf(group, {"all_reduce", call});
  Status status;
  unsigned char *all = scratch.take(bytes * group.size());
  std::vector<const void *> sources(static_cast<size_t>(group.size()));
  for (int64_t i = 0; i < group.size(); ++i)
    sources[static_cast<size_t>(group.after(i))] = all + i * bytes;
  std::memcpy(all, data, static_cast<size_t>(bytes));
  if (goesInRounds(group, bytes)) {
    status = gatherInRounds(together, all, bytes);
  } else {
    for (int64_t i = 1; i < group.size(); ++i) {
      together.send(group.after(i), data, bytes);
      together.receive(group.after(i), all + i * bytes, bytes);
    }
    status = together.exchange();
  }
  if (status.ok())
    reduceRange({call.dtype, call.reduction, sources}, 0, call.count, {data},
                0);
  return status;
}

/// Each member adds one part of all buffers and sends it to all.
Status ProcessCommunicator::reduceParts(const CallGroup &group,
                                        const Collective &call, void *data) {
  int64_t element = dtypeBytes(call.dtype), size = group.size();
  auto *bytes = static_cast<unsigned char *>(data);
  MemberPart own = partOf(call.count, size, group.member);
  int64_t ownBytes = (own.end - own.begin) * element;
  unsigned char *ownData = bytes + own.begin * element;
  GroupCall together = callOf(group, {"all_reduce", call});
  std::vector<const void *> sources;
  for (int64_t i = 0; i < size; ++i) {
    sources.push_back(i == group.member ? ownData : scratch.take(ownBytes));
    if (i == group.member)
      continue;
    MemberPart part = partOf(call.count, size, i);
    together.send(i, bytes + part.begin * element,
                  (part.end - part.begin) * element);
    together.receive(i, const_cast<void *>(sources.back()), ownBytes);
  }
  if (Status status = together.exchange(); !status.ok())
    return status;
  reduceOn(threads, {call.dtype, call.reduction, sources}, own.end - own.begin,
           {ownData});
  for (int64_t i = 0; i < size; ++i) {
    if (i == group.member)
      continue;
    MemberPart part = partOf(call.count, size, i);
    together.send(i, ownData, ownBytes);
    together.receive(i, bytes + part.begin * element,
                     (part.end - part.begin) * element);
  }
  return together.exchange();
}

Status ProcessCommunicator::allReduce(const Collective &call, void *data) {
  const CallGroup &group = groupOf(call.axes);
  if (Status status = start(group, {"all_reduce", call});
      !status.ok() || group.size() == 1)
    return status;
  if (call.count * dtypeBytes(call.dtype) <= wholeBytes)
    return reduceWhole(group, call, data);
  if (!group.hosts.savesTraffic())
    return reduceParts(group, call, data);
  GroupCall together = callOf(group, {"all_reduce", call});
  return reduceOverHosts(together, {call.dtype, call.reduction, threads}, data,
                         call.count, scratch);
}

Status ProcessCommunicator::allGather(const Collective &call, const void *src,
                                      void *dst) {
  const CallGroup &group = groupOf(call.axes);
  if (Status status = start(group, {"all_gather", call}); !status.ok())
    return status;
  int64_t row = call.count * dtypeBytes(call.dtype), bytes = call.outer * row;
  const int64_t size = group.size();
  GroupCall together = callOf(group, {"all_gather", call});
  auto *to = static_cast<unsigned char *>(dst);
  const bool inRounds = goesInRounds(group, bytes),
             direct = call.outer == 1 && !inRounds;
  unsigned char *all = direct ? to : scratch.take(bytes * size);
  /// In rounds this member's block is the first.
  auto blockOf = [&](int64_t i) {
    return all + (inRounds ? (i - group.member + size) % size : i) * bytes;
  };
  std::vector<InBytes> parts;
  for (int64_t i = 0; i < size; ++i)
    parts.push_back({blockOf(i), bytes});
  Status status;
  if (inRounds) {
    copyRows(1, bytes, src, bytes, all, bytes);
    status = gatherInRounds(together, all, bytes);
  } else if (group.hosts.savesTraffic()) {
    status = gatherOverHosts(together, {src, bytes}, parts);
  } else {
    for (int64_t i = 0; i < size; ++i)
      if (i != group.member) {
        together.send(i, src, bytes);
        together.receive(i, blockOf(i), bytes);
      }
    status = together.exchange();
  }
  if (!status.ok())
    return status;
  for (int64_t i = 0; i < size; ++i) {
    const void *from = i == group.member ? src : blockOf(i);
    if (from != to + i * row) // else it is already in its place
      copyRows(call.outer, row, from, row, to + i * row, size * row);
  }
  return {};
}

Status ProcessCommunicator::reduceScatter(const Collective &call,
                                          const void *src, void *dst) {
  const CallGroup &group = groupOf(call.axes);
  if (Status status = start(group, {"reduce_scatter", call}); !status.ok())
    return status;
  int64_t row = call.count * dtypeBytes(call.dtype), bytes = call.outer * row;
  int64_t size = group.size();
  auto *from = static_cast<const unsigned char *>(src);
  GroupCall together = callOf(group, {"reduce_scatter", call});
  // Members' rows in one piece.
  unsigned char *packed =
      call.outer == 1 ? nullptr : scratch.take(size * bytes);
  std::vector<Addend> addends;
  for (int64_t i = 0; i < size; ++i) {
    addends.push_back({from + i * row, call.outer * call.count});
    if (call.outer == 1)
      continue;
    copyRows(call.outer, row, from + i * row, size * row, packed + i * bytes,
             row);
    addends.back().data = packed + i * bytes;
  }
  if (group.hosts.savesTraffic())
    return scatterHostSums(together, {call.dtype, call.reduction, threads},
                           addends, scratch, dst);
  std::vector<const void *> sources;
  for (int64_t i = 0; i < size; ++i) {
    const Addend &addend = addends[static_cast<size_t>(i)];
    sources.push_back(i == group.member ? addend.data : scratch.take(bytes));
    if (i == group.member)
      continue;
    together.send(i, addend.data, bytes);
    together.receive(i, const_cast<void *>(sources.back()), bytes);
  }
  if (Status status = together.exchange(); !status.ok())
    return status;
  reduceOn(threads, {call.dtype, call.reduction, sources},
           call.outer * call.count, {dst});
  return {};
}

Status ProcessCommunicator::allToAll(const Collective &call, const void *src,
                                     void *dst) {
  const CallGroup &group = groupOf(call.axes);
  if (Status status = start(group, {"all_to_all", call}); !status.ok())
    return status;
  Slices from = sourceSlices(call, dtypeBytes(call.dtype));
  Slices to = targetSlices(call, dtypeBytes(call.dtype));
  int64_t size = group.size(), bytes = from.total();
  GroupCall together = callOf(group, {"all_to_all", call});
  unsigned char *packed = scratch.take(size * bytes);
  unsigned char *arrived = scratch.take(size * bytes);
  for (int64_t i = 0; i < size; ++i) {
    bool own = i == group.member;
    unsigned char *out = (own ? arrived : packed) + i * bytes;
    copyRows(from.count, from.bytes,
             static_cast<const char *>(src) + i * from.bytes, size * from.bytes,
             out, from.bytes);
    if (own)
      continue;
    together.send(i, out, bytes);
    together.receive(i, arrived + i * bytes, bytes);
  }
  if (Status status = together.exchange(); !status.ok())
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

Status ProcessCommunicator::exchangeRows(const RowExchange &exchange,
                                         const void *src, void *dst) {
  const CallGroup &group = groupOf(exchange.call.axes);
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
  GroupCall together = callOf(group, offer);
  unsigned char *out = scratch.take(sent);
  unsigned char *arrived = scratch.take(exchange.arriving * bytes);
  unsigned char *in = arrived;
  for (size_t i = 0; i < size; ++i) {
    const int64_t inBytes = countRows(exchange.received[i]) * bytes;
    if (static_cast<int64_t>(i) == group.member) {
      packRows(exchange.sent[i], src, bytes, in);
    } else {
      unsigned char *end = packRows(exchange.sent[i], src, bytes, out);
      together.send(static_cast<int64_t>(i), out, end - out);
      together.receive(static_cast<int64_t>(i), in, inBytes);
      out = end;
    }
    in += inBytes;
  }
  if (Status status = together.exchange(); !status.ok())
    return status;
  const unsigned char *from = arrived;
  for (const RowRanges &ranges : exchange.received)
    from = unpackRows(ranges, from, bytes, dst);
  exchange.clearRest(dst);
  return {};
}

Status ProcessCommunicator::broadcast(const Collective &call, int64_t root,
                                      void *data) {
  const CallGroup &group = groupOf(call.axes);
  Offer offer{"broadcast", call, root};
  if (Status status = start(group, offer); !status.ok())
    return status;
  GroupCall together = callOf(group, offer);
  return broadcastInRounds(together, root, data,
                           call.count * dtypeBytes(call.dtype));
}

Status ProcessCommunicator::barrier(const Collective &call) {
  const CallGroup &group = groupOf(call.axes);
  Offer offer{"barrier", call};
  if (Status status = start(group, offer); !status.ok())
    return status;
  GroupCall together = callOf(group, offer);
  if (goesInRounds(group, 0))
    return gatherInRounds(together, nullptr, 0);
  for (int64_t i = 1; i < group.size(); ++i)
    together.meet(group.after(i));
  return together.exchange();
}

Status ProcessCommunicator::message(const char *kind, const Message &message,
                                    Transfer transfer) {
  int64_t own = world->options().rank;
  if (Status status = checkMessage(world->options().mesh, own, message);
      !status.ok())
    world->abort(status);
  if (world->failed())
    return world->failure();
  reached(message.op);
  bool sends = std::strcmp(kind, "send") == 0;
  ProcessCall call{
      {kind, {}},
      describeWay(sends ? own : message.peer, sends ? message.peer : own),
      lane,
      differentMessage};
  call.offer.call.op = message.op;
  call.offer.call.count = message.bytes;
  transfer.peer = message.peer;
  return exchange(*world, call, {transfer});
}

Status ProcessCommunicator::send(const Message &what, const void *data) {
  return message("send", what, {what.peer, {{data, what.bytes}}});
}

Status ProcessCommunicator::receive(const Message &what, void *data) {
  return message("receive", what, {what.peer, {}, {{data, what.bytes}}});
}

} // namespace tessera
