//===- Groups.h - where the ranks of a group are ----------------*- C++ -*-===//

#ifndef TESSERA_LIB_SIMULATE_GROUPS_H
#define TESSERA_LIB_SIMULATE_GROUPS_H

#include "tessera/Simulate/Cluster.h"
#include "tessera/Simulate/StepProgram.h"

namespace tessera::simulate {

/// Ranks are placed on nodes in their order.
struct GroupPlace {
  int64_t ranks = 1;
  int64_t nodes = 1;       ///< Nodes that these ranks are on.
  int64_t leastOfNode = 1; ///< Ranks on the node with fewest of these.
};
GroupPlace placeOf(const std::vector<int64_t> &group, const Cluster &cluster);

/// Returns the seconds of a collective of a tensor whose whole has `bytes`.
double secondsOfCollective(Collective collective, double bytes,
                           const GroupPlace &place, const Cluster &cluster);
double secondsOfMessage(double bytes, int64_t from, int64_t to,
                        const Cluster &cluster);

} // namespace tessera::simulate

#endif // TESSERA_LIB_SIMULATE_GROUPS_H
