//===- Entry.h - the border between generated code and the runtime --------===//
#ifndef TESSERA_RUNTIME_CALLS_ENTRY_H
#define TESSERA_RUNTIME_CALLS_ENTRY_H

#include "runtime/collectives/RowExchange.h"
#include "runtime/device/Rank.h"

#include <numeric>

namespace tessera {

/// Runs `body`, which returns a Status; nothing leaves but 0 or 1. A failure
/// aborts the communicator with a message that names the op and the rank.
template <class Body>
int32_t enterOp(Rank &rank, int64_t op, const Body &body) noexcept {
  rank.communicator->reached(op);
  if (rank.communicator->failed())
    return 1;
  Status status;
  TracedOp traced(rank.trace ? &rank.trace->program : nullptr, op);
  try {
    status = body();
  } catch (...) {
    status = currentStatus();
  }
  if (status.ok())
    return 0;
  if (!rank.communicator->failed())
    rank.communicator->abort(describedAs(status.code, [&] {
      return concat(rank.metadata->describeOp(op), " on rank ", rank.number,
                    ": ", status.message);
    }));
  return 1;
}

inline Collective collectiveOf(int64_t op, const int64_t *args) {
  Collective call;
  call.op = op;
  call.axes = args[TSR_COLLECTIVE_AXES];
  call.count = args[TSR_COLLECTIVE_COUNT];
  call.dtype = static_cast<int>(args[TSR_COLLECTIVE_DTYPE]);
  call.reduction = static_cast<int>(args[TSR_COLLECTIVE_REDUCTION]);
  call.outer = args[TSR_COLLECTIVE_OUTER];
  call.rows = args[TSR_COLLECTIVE_ROWS];
  call.gathersOuter = args[TSR_COLLECTIVE_GATHERS_OUTER] != 0;
  return call;
}

inline Coalesced coalescedOf(int64_t op, void *const *buffers,
                             const int64_t *args) {
  Coalesced what{collectiveOf(op, args), {}};
  const int64_t members = args[TSR_COALESCED_MEMBERS];
  for (int64_t k = 0; k < members; ++k) {
    const int64_t *sizes = args + TSR_COALESCED_SIZES + k * TSR_MEMBER_ARGS;
    Coalesced::Member member{what.call, buffers[k], buffers[members + k]};
    member.call.count = sizes[TSR_MEMBER_COUNT];
    member.call.outer = sizes[TSR_MEMBER_OUTER];
    member.call.dtype = static_cast<int>(sizes[TSR_MEMBER_DTYPE]);
    what.members.push_back(member);
  }
  return what;
}

inline Routing routingOf(const void *gates, const int64_t *args) {
  if (!gates)
    return {};
  return {gates, args[TSR_COLLECTIVE_GATED_EXPERTS],
          args[TSR_COLLECTIVE_GATED_TOKENS], args[TSR_COLLECTIVE_GATED_ROW],
          args[TSR_COLLECTIVE_DTYPE_GATES] == TSR_DTYPE_F64};
}

/// Returns the sides of exchange_rows; gates are of the source and of the
/// target.
inline RowSide sourceRowsOf(const void *gates, const int64_t *args) {
  return {routingOf(gates, args), args[TSR_COLLECTIVE_ROWS]};
}

inline RowSide targetRowsOf(const Rank &rank, const Collective &call,
                            const void *gates, const int64_t *args) {
  Routing routing = routingOf(gates, args);
  const auto members = static_cast<int64_t>(
      rank.metadata->mesh.group(rank.number, call.axes).size());
  if (args[TSR_COLLECTIVE_TO_EXPERTS])
    routing.experts /= members, routing.tokens *= members;
  else
    routing.experts *= members, routing.tokens /= members;
  return {routing, args[TSR_COLLECTIVE_TARGET_ROWS]};
}

/// The peer differs from the rank on one axis only.
inline Message messageOf(const Rank &rank, int64_t op, const int64_t *args) {
  std::vector<int64_t> peer = rank.coordinates;
  peer[args[TSR_MESSAGE_AXIS]] = args[TSR_MESSAGE_PEER];
  return {op, rank.metadata->mesh.rankAt(peer), args[TSR_MESSAGE_BYTES]};
}

/// Returns the one axis of a call.
inline size_t axisOf(const Rank &rank, const Collective &call) {
  size_t axis = 0;
  while (!((call.axes >> axis) & 1) && axis + 1 < rank.coordinates.size())
    ++axis;
  return axis;
}

/// Returns who a rank sends to on the axis of a shift, and who sends to it.
/// Ranks of a circle are as far apart as the distance and the size have in
/// common; every other one sends first.
inline Shift shiftOf(const Rank &rank, const Collective &call,
                     const int64_t *args) {
  size_t axis = axisOf(rank, call);
  const Mesh &mesh = rank.metadata->mesh;
  int64_t own = rank.coordinates[axis], size = mesh.axes[axis].size;
  int64_t distance = args[TSR_COLLECTIVE_DISTANCE] % size;
  auto rankAt = [&](int64_t coordinate) {
    std::vector<int64_t> peer = rank.coordinates;
    peer[axis] = coordinate % size;
    return mesh.rankAt(peer);
  };
  const bool sendsFirst = own / std::gcd(distance, size) % 2 == 0;
  return {call, rankAt(own + distance), rankAt(own + size - distance),
          sendsFirst, distance};
}

inline Zigzag zigzagOf(const Rank &rank, const Collective &call,
                       const int64_t *args) {
  return {call, rank.metadata->mesh.group(rank.number, call.axes),
          rank.coordinates[axisOf(rank, call)],
          args[TSR_COLLECTIVE_MAKES_WHOLE] != 0};
}

/// Returns the status of a rank whose program returned `code`.
inline Status statusOfProgram(const Rank &rank, const ProgramStep &step,
                              int32_t code) {
  if (code == 0)
    return {};
  if (rank.communicator->failed())
    return rank.communicator->failure();
  if (code == TSR_OUT_OF_MEMORY)
    return {TSR_OUT_OF_MEMORY,
            concat("rank ", rank.number, " is out of memory in step ",
                   step.number)};
  return {TSR_INTERNAL,
          concat("the program of rank ", rank.number, " stopped with code ",
                 code, " in step ", step.number + 1)};
}

} // namespace tessera

#endif // TESSERA_RUNTIME_CALLS_ENTRY_H
