//===- ThreadCollectives.cpp - ranks that are threads of one process ------===//
// The host threads have an entry and an exit barrier, as on the CPU; events
// order the GPU's work. After the entry barrier a rank's stream waits for the
// others' buffers, after the exit barrier for their reading and writing. Each
// rank reduces one part of all buffers, neighbours first, and writes the result
// to all.
//===----------------------------------------------------------------------===//

#include "runtime/collectives/Slices.h"
#include "runtime/collectives/thread/RankBarriers.h"
#include "runtime/cuda/DeviceMemory.h"
#include "runtime/cuda/StridedCopy.h"
#include "runtime/cuda/collectives/Collectives.h"
#include "runtime/cuda/collectives/Reduction.h"
#include "runtime/device/Rank.h"
#include "runtime/support/DType.h"

#include <algorithm>
#include <map>
#include <set>

namespace tessera::cuda {

namespace {
// Parts begin at multiples of this, so that writes are whole cache lines.
constexpr int64_t partElements = 128;

/// The events of a rank that the others wait for. They belong to a seat: each
/// is recorded again only after all members have queued their waits for the
/// last time.
struct Order {
  Event ready, done;
  int device = 0;
};

class ThreadCollectives final : public Collectives {
public:
  ThreadCollectives(Rank &rank, int device, cudaStream_t stream)
      : barriers(*rank.world, rank.number), device(device), stream(stream),
        isAlone(rank.metadata->mesh.ranks() == 1) {}

  Status allReduce(const Collective &call, void *data) override;
  Status allGather(const Collective &call, const void *src, void *dst) override;
  Status reduceScatter(const Collective &call, const void *src,
                       void *dst) override;
  Status allGatherCoalesced(const Coalesced &what) override;
  Status reduceScatterCoalesced(const Coalesced &what) override;
  Status allToAll(const Collective &call, const void *src, void *dst) override;
  Status broadcast(const Collective &call, int64_t root, void *data) override;
  Status shift(const Shift &call, const void *src, void *dst) override;
  Status zigzag(const Zigzag &call, const ZigzagBuffers &own) override;
  Status send(const Message &message, const void *data) override;
  Status receive(const Message &message, void *data) override;
  void announce(int, const Collective &) override {}
  void announce(const Coalesced &) override {}
  void announce(const Message &) override {}
  Status connect() override { return {}; }
  /// Barriers need the host, but a rank alone has none.
  bool isCapturable() const override { return isAlone; }
  Status poll() override { return {}; }
  std::string describe() const override {
    return "threads, device memory shared between ranks";
  }

private:
  struct Place {
    RankBarriers::Seat seat;
    std::unique_ptr<Order> order;
    /// The others' orders, taken between the barriers: after the exit barrier
    /// they may be at their next call already.
    std::vector<const Order *> others;
  };
  Place &placeOf(int64_t axes);
  Place &channelOf(int64_t peer, bool sends);
  void takePlace(Place &place, const RankBarriers::Seat &seat);
  Status enter(Place &place, Offer offer);
  Status leave(Place &place);
  void gather(const Collective &call, const std::vector<const void *> &sources,
              void *dst);
  void scatter(const Collective &call, int64_t member,
               const std::vector<const void *> &sources, void *dst);
  void waitFor(const Place &place, Event Order::*event);
  void reach(int peer);

  RankBarriers barriers;
  int device;
  cudaStream_t stream;
  bool isAlone;
  std::set<int> reached; ///< GPUs
  /// One for each set of axes.
  std::map<int64_t, Place> places;
  /// One for each peer and direction.
  std::map<std::pair<int64_t, bool>, Place> channels;
};

std::vector<const Order *> othersOf(const RankBarriers::Seat &seat) {
  std::vector<const Order *> others;
  for (int64_t i = 0; i < seat.size(); ++i)
    if (i != seat.member)
      others.push_back(static_cast<const Order *>(seat.group->offer(i).order));
  return others;
}

ThreadCollectives::Place &ThreadCollectives::placeOf(int64_t axes) {
  Place &place = places[axes];
  if (place.order)
    return place;
  RankBarriers::Seat seat = barriers.seatOf(axes);
  if (seat.size() > mostMembers)
    fail(TSR_UNSUPPORTED, "a group of ", seat.size(),
         " ranks is larger than the threads communicator's ", mostMembers,
         " on device 'cuda'; use a smaller axis");
  takePlace(place, seat);
  return place;
}

ThreadCollectives::Place &ThreadCollectives::channelOf(int64_t peer,
                                                       bool sends) {
  Place &place = channels[{peer, sends}];
  if (!place.order)
    takePlace(place,
              sends ? barriers.channelTo(peer) : barriers.channelFrom(peer));
  return place;
}

void ThreadCollectives::takePlace(Place &place,
                                  const RankBarriers::Seat &seat) {
  place.seat = seat;
  place.order = std::make_unique<Order>();
  place.order->device = device;
}

/// Makes a peer's memory readable and writable from this GPU.
void ThreadCollectives::reach(int peer) {
  if (peer == device || !reached.insert(peer).second)
    return;
  int can = 0;
  check(cudaDeviceCanAccessPeer(&can, device, peer), "asking for peer access");
  if (!can)
    fail(TSR_UNSUPPORTED, "GPU ", device, " cannot reach the memory of GPU ",
         peer, "; use communicator 'nccl', or one GPU for all ranks");
  cudaError_t error = cudaDeviceEnablePeerAccess(peer, 0);
  if (error == cudaErrorPeerAccessAlreadyEnabled)
    cudaGetLastError();
  else
    check(error, "enabling peer access");
}

void ThreadCollectives::waitFor(const Place &place, Event Order::*event) {
  for (const Order *other : place.others)
    check(cudaStreamWaitEvent(stream, (other->*event).get()),
          "waiting for a rank");
}

/// Enters a collective; after this the stream may read and write the others'
/// buffers.
Status ThreadCollectives::enter(Place &place, Offer offer) {
  if (place.seat.size() == 1) {
    place.seat.group->offer(0) = offer;
    return {};
  }
  place.order->ready.record(stream);
  offer.order = place.order.get();
  if (Status status = barriers.enter(place.seat, offer); !status.ok())
    return status;
  place.others = othersOf(place.seat);
  for (const Order *other : place.others)
    reach(other->device);
  waitFor(place, &Order::ready);
  return {};
}

/// Leaves a collective; after this nobody reads or writes this rank's buffer
/// any more.
Status ThreadCollectives::leave(Place &place) {
  if (place.seat.size() == 1)
    return {};
  place.order->done.record(stream);
  if (Status status = barriers.leave(place.seat); !status.ok())
    return status;
  waitFor(place, &Order::done);
  return {};
}

Buffers buffersOf(const std::vector<const void *> &offered) {
  Buffers buffers;
  for (const void *data : offered)
    buffers.data[buffers.count++] = const_cast<void *>(data);
  return buffers;
}

Status ThreadCollectives::allReduce(const Collective &call, void *data) {
  Place &place = placeOf(call.axes);
  if (place.seat.size() == 1)
    return {};
  if (Status status = enter(place, {"all_reduce", call, 0, data, nullptr});
      !status.ok())
    return status;
  int64_t part = (call.count + place.seat.size() - 1) / place.seat.size();
  part = (part + partElements - 1) / partElements * partElements;
  int64_t begin = std::min(place.seat.member * part, call.count);
  int64_t end = std::min(begin + part, call.count);
  Buffers all = buffersOf(place.seat.offeredData());
  check(reduce({call.dtype, call.reduction, 1, end - begin, 0, begin, begin,
                all, all},
               stream),
        "reducing");
  return leave(place);
}

/// Puts all members' sources side by side.
void ThreadCollectives::gather(const Collective &call,
                               const std::vector<const void *> &sources,
                               void *dst) {
  int64_t bytes = call.count * dtypeBytes(call.dtype);
  auto size = static_cast<int64_t>(sources.size());
  for (int64_t i = 0; i < size; ++i) {
    char *target = static_cast<char *>(dst) + i * bytes;
    if (target != sources[i]) // the own part may lie where it belongs already
      copyRows({call.outer, bytes, sources[i], bytes, target, size * bytes},
               stream);
  }
}

Status ThreadCollectives::allGather(const Collective &call, const void *src,
                                    void *dst) {
  Place &place = placeOf(call.axes);
  Offer offer{"all_gather", call, 0, const_cast<void *>(src), nullptr};
  if (Status status = enter(place, offer); !status.ok())
    return status;
  gather(call, place.seat.offeredData(), dst);
  return leave(place);
}

/// Computes the member's part of the sources' sum.
void ThreadCollectives::scatter(const Collective &call, int64_t member,
                                const std::vector<const void *> &sources,
                                void *dst) {
  auto size = static_cast<int64_t>(sources.size());
  Buffers own;
  own.data[own.count++] = dst;
  check(reduce({call.dtype, call.reduction, call.outer, call.count,
                size * call.count, member * call.count, 0, buffersOf(sources),
                own},
               stream),
        "reducing");
}

Status ThreadCollectives::reduceScatter(const Collective &call, const void *src,
                                        void *dst) {
  Place &place = placeOf(call.axes);
  Offer offer{"reduce_scatter", call, 0, const_cast<void *>(src), nullptr};
  if (Status status = enter(place, offer); !status.ok())
    return status;
  scatter(call, place.seat.member, place.seat.offeredData(), dst);
  return leave(place);
}

Status ThreadCollectives::allGatherCoalesced(const Coalesced &what) {
  Place &place = placeOf(what.call.axes);
  if (Status status =
          enter(place, RankBarriers::offerOf("all_gather_coalesced", what));
      !status.ok())
    return status;
  for (size_t k = 0; k < what.members.size(); ++k)
    gather(what.members[k].call, place.seat.offeredSources(k),
           what.members[k].result);
  return leave(place);
}

Status ThreadCollectives::reduceScatterCoalesced(const Coalesced &what) {
  Place &place = placeOf(what.call.axes);
  if (Status status =
          enter(place, RankBarriers::offerOf("reduce_scatter_coalesced", what));
      !status.ok())
    return status;
  for (size_t k = 0; k < what.members.size(); ++k)
    scatter(what.members[k].call, place.seat.member,
            place.seat.offeredSources(k), what.members[k].result);
  return leave(place);
}

Status ThreadCollectives::allToAll(const Collective &call, const void *src,
                                   void *dst) {
  Place &place = placeOf(call.axes);
  Offer offer{"all_to_all", call, 0, const_cast<void *>(src), nullptr};
  if (Status status = enter(place, offer); !status.ok())
    return status;
  int64_t element = dtypeBytes(call.dtype), unit = call.count * element;
  int64_t size = place.seat.size();
  Slices from = sourceSlices(call, element), to = targetSlices(call, element);
  // For one outer index, rows of `unit` lie side by side in one of the two.
  int64_t fromStride = call.gathersOuter ? size * unit : unit;
  int64_t toStride = call.gathersOuter ? unit : size * unit;
  std::vector<const void *> sources = place.seat.offeredData();
  for (int64_t outer = 0; outer < call.outer; ++outer)
    for (int64_t i = 0; i < size; ++i) {
      int64_t base = outer * size * call.rows * unit;
      copyRows({call.rows, unit,
                static_cast<const char *>(sources[i]) + base +
                    place.seat.member * from.bytes,
                fromStride, static_cast<char *>(dst) + base + i * to.bytes,
                toStride},
               stream);
    }
  return leave(place);
}

Status ThreadCollectives::broadcast(const Collective &call, int64_t root,
                                    void *data) {
  Place &place = placeOf(call.axes);
  if (root < 0 || root >= place.seat.size())
    return {TSR_INTERNAL, concat("broadcast from ", root, ", the group has ",
                                 place.seat.size(), " members")};
  if (Status status = enter(place, {"broadcast", call, root, data, nullptr});
      !status.ok())
    return status;
  if (place.seat.member != root)
    copyRows({1, call.count * dtypeBytes(call.dtype),
              place.seat.group->offer(root).data, 0, data, 0},
             stream);
  return leave(place);
}

Status ThreadCollectives::shift(const Shift &shift, const void *src,
                                void *dst) {
  const Collective &call = shift.call;
  Place &place = placeOf(call.axes);
  Offer offer{"shift", call, 0, const_cast<void *>(src), nullptr};
  if (Status status = enter(place, offer); !status.ok())
    return status;
  int64_t size = place.seat.size();
  int64_t before = (place.seat.member + size - shift.distance) % size;
  copyRows({1, call.count * dtypeBytes(call.dtype),
            place.seat.offeredData()[size_t(before)], 0, dst, 0},
           stream);
  return leave(place);
}

/// The members offer the places of their buffers, which lie in the host's
/// memory and are read between the barriers.
Status ThreadCollectives::zigzag(const Zigzag &zigzag,
                                 const ZigzagBuffers &own) {
  const Collective &call = zigzag.call;
  Place &place = placeOf(call.axes);
  const char *kind = zigzag.makesWhole ? "zigzag to slices" : "zigzag";
  Offer offer{kind, call, 0, const_cast<ZigzagBuffers *>(&own), nullptr};
  if (Status status = enter(place, offer); !status.ok())
    return status;
  const int64_t bytes = call.count * dtypeBytes(call.dtype);
  std::vector<const void *> offered = place.seat.offeredData();
  auto buffersOf = [&](int64_t member) -> const ZigzagBuffers & {
    return *static_cast<const ZigzagBuffers *>(offered[size_t(member)]);
  };
  for (int64_t number = 0; number < 2 * zigzag.size(); ++number) {
    const int64_t slice = Zigzag::slicedAt(number);
    const int64_t pair = zigzag.pairedAt(number);
    char *half =
        static_cast<char *>(buffersOf(slice).whole) + number % 2 * bytes;
    void *chunk = buffersOf(pair).chunk(zigzag.isEarly(number));
    if (zigzag.makesWhole && slice == zigzag.member)
      copyRows({call.outer, bytes, chunk, bytes, half, 2 * bytes}, stream);
    if (!zigzag.makesWhole && pair == zigzag.member)
      copyRows({call.outer, bytes, half, 2 * bytes, chunk, bytes}, stream);
  }
  return leave(place);
}

Status ThreadCollectives::send(const Message &message, const void *data) {
  if (Status status = barriers.check(message); !status.ok())
    return status;
  Place &place = channelOf(message.peer, true);
  Offer offer =
      RankBarriers::offerOf("send", message, const_cast<void *>(data));
  if (Status status = enter(place, offer); !status.ok())
    return status;
  return leave(place);
}

Status ThreadCollectives::receive(const Message &message, void *data) {
  if (Status status = barriers.check(message); !status.ok())
    return status;
  Place &place = channelOf(message.peer, false);
  if (Status status =
          enter(place, RankBarriers::offerOf("receive", message, data));
      !status.ok())
    return status;
  copyRows({1, message.bytes, place.seat.group->offer(0).data, 0, data, 0},
           stream);
  return leave(place);
}
} // namespace

std::unique_ptr<Collectives> makeThreadCollectives(Rank &rank, int device,
                                                   cudaStream_t stream) {
  return std::make_unique<ThreadCollectives>(rank, device, stream);
}

} // namespace tessera::cuda
