//===- Slices.h - what of a tensor belongs to one member of a group -------===//
// Both forms of all_to_all, [outer, rows, n, count] and [outer, n, rows,
// count], are the members' pieces side by side, again and again: member i's
// begin at i * bytes, and are n * bytes apart.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_SLICES_H
#define TESSERA_RUNTIME_COLLECTIVES_SLICES_H

#include "runtime/collectives/Communicator.h"

namespace tessera {

struct Slices {
  int64_t count, bytes; ///< pieces, and the size of one

  int64_t total() const { return count * bytes; }
};

/// The slices that go to a member, or come from one; `element`: bytes.
inline Slices sourceSlices(const Collective &call, int64_t element) {
  int64_t unit = call.count * element;
  return call.gathersOuter ? Slices{call.outer * call.rows, unit}
                           : Slices{call.outer, call.rows * unit};
}
inline Slices targetSlices(const Collective &call, int64_t element) {
  Collective back = call;
  back.gathersOuter = !call.gathersOuter;
  return sourceSlices(back, element);
}

} // namespace tessera

#endif // TESSERA_RUNTIME_COLLECTIVES_SLICES_H
