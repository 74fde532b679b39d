#include "runtime/collectives/thread/RankBarriers.h"

#include "runtime/collectives/Diagnosis.h"

namespace tessera {

namespace {
std::string wayOf(const RankBarriers::Seat &seat) {
  const std::vector<int64_t> &ranks = seat.group->ranks();
  return describeWay(ranks[0], ranks[1]);
}

/// A round of a barrier, in which a member has arrived.
class Round final : public Awaited {
public:
  Round(const RankBarriers::Seat &seat, uint64_t round)
      : seat(seat), group(*seat.group), round(round) {}

  const std::vector<int64_t> &ranks() const override { return group.ranks(); }
  bool isComplete() const override { return group.complete(round); }
  bool hasArrived(size_t member) const override {
    return group.hasArrived(static_cast<int64_t>(member), round);
  }
  void sleep(std::chrono::milliseconds time) const override {
    group.sleep(round, time);
  }
  std::string describe(const ThreadWorldOptions &options) const override {
    const Offer &own = group.offer(seat.member);
    return concat(describeCall(own, options.describeOp), " ",
                  seat.isChannel
                      ? wayOf(seat)
                      : "over " + options.mesh.describe(own.call.axes));
  }

private:
  const RankBarriers::Seat &seat;
  GroupBarrier &group;
  uint64_t round;
};
} // namespace

std::vector<const void *> RankBarriers::Seat::offeredData() const {
  std::vector<const void *> data;
  for (int64_t i = 0; i < group->size(); ++i)
    data.push_back(group->offer(i).data);
  return data;
}

std::vector<const void *> RankBarriers::Seat::offeredSources(size_t k) const {
  std::vector<const void *> sources = offeredData();
  for (const void *&source : sources)
    source = static_cast<const Coalesced *>(source)->members[k].source;
  return sources;
}

RankBarriers::RankBarriers(ThreadWorld &world, int64_t rank, Lane lane)
    : world(world), rank(rank), lane(lane) {}

RankBarriers::Seat RankBarriers::seatOf(int64_t axes) {
  Seat &seat = seats[axes];
  if (!seat.group) {
    seat.group = &world.group(rank, axes, lane);
    seat.member = seat.group->indexOf(rank);
  }
  return seat;
}

Offer RankBarriers::offerOf(const char *kind, const Message &message,
                            void *data) {
  Offer offer{kind, {}, 0, data};
  offer.call.op = message.op;
  offer.call.count = message.bytes;
  return offer;
}

Offer RankBarriers::offerOf(const char *kind, const Coalesced &what) {
  return {kind, what.call, 0, const_cast<Coalesced *>(&what)};
}

Status RankBarriers::enter(const Seat &seat, const Offer &offer) {
  if (world.failed())
    return world.failure();
  if (lane == Lane::Program)
    world.reached(rank, offer.call.op);
  if (!isKnown(offer.call)) {
    world.abort({TSR_INTERNAL, concat("rank ", rank, " called an illegal ",
                                      describeOffer(offer))});
    return world.failure();
  }
  seat.group->offer(seat.member) = offer;
  if (Status status = meet(seat); !status.ok())
    return status;
  return checkOffers(seat);
}

Status RankBarriers::leave(const Seat &seat) { return meet(seat); }

Status RankBarriers::meet(const Seat &seat) {
  const uint64_t round = seat.group->arrive(seat.member);
  return world.waitFor(Round(seat, round), lane == Lane::Program);
}

Status RankBarriers::checkMessage(const Seat &seat) const {
  const Offer &own = seat.group->offer(seat.member);
  const Offer &other = seat.group->offer(1 - seat.member);
  if (own.call.count != other.call.count)
    world.abort({TSR_INTERNAL, describeLengths(wayOf(seat), own, other)});
  return world.failure();
}

Status RankBarriers::checkOffers(const Seat &seat) const {
  if (seat.isChannel)
    return checkMessage(seat);
  const Offer &own = seat.group->offer(seat.member);
  for (int64_t i = 0; i < seat.group->size(); ++i) {
    const Offer &other = seat.group->offer(i);
    if (sameCall(world.options().mesh, own, other))
      continue;
    world.abort({TSR_INTERNAL, describeDisagreement(
                                   world.options().mesh.describe(own.call.axes),
                                   rank, own, seat.group->ranks()[i], other)});
    return world.failure();
  }
  return {};
}

} // namespace tessera
