#include "runtime/collectives/thread/RankBarriers.h"

#include "runtime/collectives/Diagnosis.h"

namespace tessera {

namespace {
std::string overAxes(const Mesh &mesh, const Wait &wait) {
  return "over " + mesh.describe(wait.offer.call.axes);
}

std::string fromTo(const Mesh &, const Wait &wait) {
  const std::vector<int64_t> &ranks = wait.group.ranks();
  return concat("from rank ", ranks[0], " to rank ", ranks[1]);
}

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

Wait RankBarriers::waitAt(const Seat &seat) const {
  return {*seat.group, seat.member, seat.group->offer(seat.member),
          seat.isChannel ? fromTo : overAxes, lane == Lane::Program};
}

Status RankBarriers::check(const Message &message) {
  int64_t ranks = world.options().mesh.ranks();
  if (message.peer < 0 || message.peer >= ranks || message.peer == rank ||
      message.bytes < 0)
    world.abort({TSR_INTERNAL,
                 concat("rank ", rank, " exchanges ", message.bytes,
                        " bytes with rank ", message.peer, " of ", ranks)});
  return world.failure();
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
  if (Status status = world.arrive(waitAt(seat)); !status.ok())
    return status;
  return checkOffers(seat);
}

Status RankBarriers::leave(const Seat &seat) {
  return world.arrive(waitAt(seat));
}

Status RankBarriers::checkMessage(const Seat &seat) const {
  const Offer &own = seat.group->offer(seat.member);
  const Offer &other = seat.group->offer(1 - seat.member);
  if (own.call.count != other.call.count)
    world.abort({TSR_INTERNAL,
                 concat("message ", fromTo({}, waitAt(seat)), ": ", own.kind,
                        " of ", own.call.count, " bytes is matched by ",
                        other.kind, " of ", other.call.count, " bytes")});
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
