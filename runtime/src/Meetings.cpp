#include "Meetings.h"

#include "DType.h"

#include <cstring>

namespace tessera {

namespace {
std::string overAxes(const Mesh &mesh, const Wait &wait) {
  return "over " + mesh.describe(wait.offer.call.axes);
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

/// Stages number the ops of programs of their own.
bool sameOp(const Mesh &mesh, const Collective &a, const Collective &b) {
  bool betweenStages = mesh.stageAxis >= 0 && ((a.axes >> mesh.stageAxis) & 1);
  return betweenStages || a.op == b.op;
}

bool sameCall(const Mesh &mesh, const Offer &a, const Offer &b) {
  return std::strcmp(a.kind, b.kind) == 0 && sameOp(mesh, a.call, b.call) &&
         a.call.count == b.call.count && a.call.dtype == b.call.dtype &&
         a.call.reduction == b.call.reduction && a.call.outer == b.call.outer &&
         a.root == b.root;
}

} // namespace

std::vector<const void *> Meetings::Seat::offeredData() const {
  std::vector<const void *> data;
  for (int64_t i = 0; i < group->size(); ++i)
    data.push_back(group->offer(i).data);
  return data;
}

Meetings::Meetings(ThreadWorld &world, int64_t rank, Lane lane)
    : world(world), rank(rank), lane(lane) {}

Meetings::Seat Meetings::seatOf(int64_t axes) {
  Seat &seat = seats[axes];
  if (!seat.group) {
    seat.group = &world.group(rank, axes, lane);
    seat.member = seat.group->indexOf(rank);
  }
  return seat;
}

Wait Meetings::waitAt(const Seat &seat) const {
  return {*seat.group, seat.member, seat.group->offer(seat.member), overAxes,
          lane == Lane::Program};
}

/// First meeting: everyone's buffer is ready, and all call the same.
Status Meetings::open(const Seat &seat, const Offer &offer) {
  if (world.failed())
    return world.failure();
  if (lane == Lane::Program)
    world.reached(rank, offer.call.op);
  if (!isKnown(offer.call)) {
    world.abort({TSR_INTERNAL, concat("rank ", rank, " called an illegal ",
                                      describeCall(offer))});
    return world.failure();
  }
  seat.group->offer(seat.member) = offer;
  if (Status status = world.meet(waitAt(seat)); !status.ok())
    return status;
  return checkOffers(seat);
}

/// Second meeting: nobody needs the others' buffers any more.
Status Meetings::close(const Seat &seat) { return world.meet(waitAt(seat)); }

Status Meetings::checkOffers(const Seat &seat) const {
  const Offer &own = seat.group->offer(seat.member);
  for (int64_t i = 0; i < seat.group->size(); ++i) {
    const Offer &other = seat.group->offer(i);
    if (sameCall(world.options().mesh, own, other))
      continue;
    world.abort(
        {TSR_INTERNAL,
         concat("ranks disagree over ",
                world.options().mesh.describe(own.call.axes), ": rank ", rank,
                " called ", describeCall(own), ", rank ",
                seat.group->ranks()[i], " called ", describeCall(other))});
    return world.failure();
  }
  return {};
}

} // namespace tessera
