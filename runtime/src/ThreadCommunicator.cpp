#include "ThreadCommunicator.h"

#include "DType.h"
#include "Reduce.h"
#include "ThreadTeam.h"

#include <algorithm>
#include <cstring>

namespace tessera {

namespace {
// Parts begin at multiples of this, so that no two ranks write one cache line.
constexpr int64_t partElements = 64;
// Below this a second thread costs more than it saves.
constexpr int64_t threadBytes = int64_t(1) << 20;

std::string overAxes(const Mesh &mesh, const Wait &wait) {
  return "over " + mesh.describe(wait.offer.call.axes);
}

std::string fromTo(const Mesh &, const Wait &wait) {
  const std::vector<int64_t> &ranks = wait.group.ranks();
  return concat("from rank ", ranks[0], " to rank ", ranks[1]);
}

bool isKnown(const Collective &call) {
  return dtypeBytes(call.dtype) != 0 && call.count >= 0 && call.outer >= 0 &&
         (call.reduction == TSR_REDUCE_SUM || call.reduction == TSR_REDUCE_MAX);
}

std::string describeCall(const Offer &offer) {
  return concat(offer.kind, " of op ", offer.call.op, " with ",
                offer.call.outer, " x ", offer.call.count, " ",
                dtypeName(offer.call.dtype), ", reduction ",
                offer.call.reduction, ", root ", offer.root);
}

bool sameCall(const Offer &a, const Offer &b) {
  return std::strcmp(a.kind, b.kind) == 0 && a.call.op == b.call.op &&
         a.call.count == b.call.count && a.call.dtype == b.call.dtype &&
         a.call.reduction == b.call.reduction && a.call.outer == b.call.outer &&
         a.root == b.root;
}

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

std::vector<const void *> offeredData(Rendezvous &group) {
  std::vector<const void *> data;
  for (int64_t i = 0; i < group.size(); ++i)
    data.push_back(group.offer(i).data);
  return data;
}
} // namespace

ThreadCommunicator::ThreadCommunicator(std::shared_ptr<ThreadWorld> world,
                                       int64_t rank)
    : world(std::move(world)), rank(rank) {}

ThreadCommunicator::Seat ThreadCommunicator::seatOf(int64_t axes) {
  Seat &seat = seats[axes];
  if (!seat.group) {
    seat.group = &world->group(rank, axes);
    seat.member = seat.group->indexOf(rank);
  }
  return seat;
}

/// First meeting: everyone's buffer is ready, and all call the same.
Status ThreadCommunicator::open(const Seat &seat, const Offer &offer) {
  if (world->failed())
    return world->failure();
  world->reached(rank, offer.call.op);
  if (!isKnown(offer.call)) {
    world->abort({TSR_INTERNAL, concat("rank ", rank, " called an illegal ",
                                       describeCall(offer))});
    return world->failure();
  }
  seat.group->offer(seat.member) = offer;
  Wait wait{*seat.group, seat.member, seat.group->offer(seat.member), overAxes};
  if (Status status = world->meet(wait); !status.ok())
    return status;
  return checkOffers(seat);
}

/// Second meeting: nobody needs the others' buffers any more.
Status ThreadCommunicator::close(const Seat &seat) {
  return world->meet(
      {*seat.group, seat.member, seat.group->offer(seat.member), overAxes});
}

Status ThreadCommunicator::checkOffers(const Seat &seat) const {
  const Offer &own = seat.group->offer(seat.member);
  for (int64_t i = 0; i < seat.group->size(); ++i) {
    const Offer &other = seat.group->offer(i);
    if (sameCall(own, other))
      continue;
    world->abort(
        {TSR_INTERNAL,
         concat("ranks disagree over ",
                world->options().mesh.describe(own.call.axes), ": rank ", rank,
                " called ", describeCall(own), ", rank ",
                seat.group->ranks()[i], " called ", describeCall(other))});
    return world->failure();
  }
  return {};
}

Status ThreadCommunicator::allReduce(const Collective &call, void *data) {
  Seat seat = seatOf(call.axes);
  if (seat.group->size() == 1)
    return world->failure();
  if (Status status = open(seat, {"all_reduce", call, 0, data}); !status.ok())
    return status;
  // This rank's part: nobody else reads or writes it.
  int64_t size = seat.group->size();
  int64_t part = (call.count + size - 1) / size;
  part = (part + partElements - 1) / partElements * partElements;
  int64_t begin = std::min(seat.member * part, call.count);
  int64_t end = std::min(begin + part, call.count);
  std::vector<const void *> sources = offeredData(*seat.group);
  std::vector<void *> targets;
  for (const void *source : sources)
    targets.push_back(const_cast<void *>(source));
  Reduction what{call.dtype, call.reduction, sources};
  splitOver(world->options().threadsPerRank, end - begin,
            (end - begin) * dtypeBytes(call.dtype) * size,
            [&](int64_t from, int64_t to) {
              reduceRange(what, begin + from, begin + to, targets, 0);
            });
  return close(seat);
}

Status ThreadCommunicator::allGather(const Collective &call, const void *src,
                                     void *dst) {
  Seat seat = seatOf(call.axes);
  Offer offer{"all_gather", call, 0, const_cast<void *>(src)};
  if (Status status = open(seat, offer); !status.ok())
    return status;
  int64_t size = seat.group->size();
  int64_t bytes = call.count * dtypeBytes(call.dtype);
  std::vector<const void *> sources = offeredData(*seat.group);
  int64_t rows = call.outer * size;
  int pieces = rows * bytes < threadBytes
                   ? 1
                   : std::max(world->options().threadsPerRank, 1);
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
  return close(seat);
}

Status ThreadCommunicator::reduceScatter(const Collective &call,
                                         const void *src, void *dst) {
  Seat seat = seatOf(call.axes);
  Offer offer{"reduce_scatter", call, 0, const_cast<void *>(src)};
  if (Status status = open(seat, offer); !status.ok())
    return status;
  int64_t size = seat.group->size(), element = dtypeBytes(call.dtype);
  std::vector<const void *> sources = offeredData(*seat.group);
  Reduction what{call.dtype, call.reduction, sources};
  for (int64_t row = 0; row < call.outer; ++row) {
    int64_t first = (row * size + seat.member) * call.count;
    std::vector<void *> target{static_cast<char *>(dst) +
                               row * call.count * element};
    splitOver(world->options().threadsPerRank, call.count,
              call.count * element * size, [&](int64_t from, int64_t to) {
                reduceRange(what, first + from, first + to, target, first);
              });
  }
  return close(seat);
}

Status ThreadCommunicator::broadcast(const Collective &call, int64_t root,
                                     void *data) {
  Seat seat = seatOf(call.axes);
  if (root < 0 || root >= seat.group->size()) {
    world->abort({TSR_INTERNAL,
                  concat("broadcast of op ", call.op, " from ", root,
                         ", the group has ", seat.group->size(), " members")});
    return world->failure();
  }
  if (Status status = open(seat, {"broadcast", call, root, data}); !status.ok())
    return status;
  if (seat.member != root)
    std::memcpy(data, seat.group->offer(root).data,
                call.count * dtypeBytes(call.dtype));
  return close(seat);
}

Status ThreadCommunicator::barrier(const Collective &call) {
  Seat seat = seatOf(call.axes);
  if (Status status = open(seat, {"barrier", call, 0, nullptr}); !status.ok())
    return status;
  return close(seat);
}

Status ThreadCommunicator::exchange(const Seat &seat, const Message &message,
                                    void *data) {
  if (world->failed())
    return world->failure();
  world->reached(rank, message.op);
  Offer &own = seat.group->offer(seat.member);
  own = {seat.member == 0 ? "send" : "receive", {}, 0, data};
  own.call.op = message.op;
  own.call.count = message.bytes;
  Wait wait{*seat.group, seat.member, own, fromTo};
  if (Status status = world->meet(wait); !status.ok())
    return status;
  const Offer &other = seat.group->offer(1 - seat.member);
  if (own.call.count != other.call.count) {
    world->abort(
        {TSR_INTERNAL, concat("message ", fromTo({}, wait), ": ", own.kind,
                              " of ", own.call.count, " bytes meets ",
                              other.kind, " of ", other.call.count, " bytes")});
    return world->failure();
  }
  if (seat.member == 1)
    std::memcpy(data, other.data, message.bytes);
  return world->meet(wait);
}

Status ThreadCommunicator::checkPeer(const Message &message) {
  int64_t ranks = world->options().mesh.ranks();
  if (message.peer < 0 || message.peer >= ranks || message.peer == rank ||
      message.bytes < 0)
    world->abort({TSR_INTERNAL,
                  concat("rank ", rank, " exchanges ", message.bytes,
                         " bytes with rank ", message.peer, " of ", ranks)});
  return world->failure();
}

Status ThreadCommunicator::send(const Message &message, const void *data) {
  if (Status status = checkPeer(message); !status.ok())
    return status;
  return exchange({&world->channel(rank, message.peer), 0}, message,
                  const_cast<void *>(data));
}

Status ThreadCommunicator::receive(const Message &message, void *data) {
  if (Status status = checkPeer(message); !status.ok())
    return status;
  return exchange({&world->channel(message.peer, rank), 1}, message, data);
}

} // namespace tessera
