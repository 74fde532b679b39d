//===- HostSums.h - sums that cross the network once ------------*- C++ -*-===//
// If several members share a host, the host adds before it sends: for a part
// that belongs to a member of another host it sends the sums of its maximal
// whole subtrees (HostTree.h), and a part that is whole reaches each host once.
// The order of sums is that of all members, so the bits are the same.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_PROCESS_HOSTSUMS_H
#define TESSERA_RUNTIME_COLLECTIVES_PROCESS_HOSTSUMS_H

#include "runtime/collectives/process/GroupCall.h"

namespace tessera {

/// Says how elements are reduced.
struct SumOptions {
  int dtype;
  int reduction;
  int threads;
};

/// This member's addend of what belongs to one member.
struct Addend {
  const unsigned char *data;
  int64_t count;
};

/// Reduces what.sources[s][i] for i < count into each target, on some threads.
void reduceOn(int threads, const Reduction &what, int64_t count,
              const std::vector<void *> &targets);

/// Reduces all members' addends of what belongs to this member into `result`,
/// which may be its own addend. `addends`: one for each member.
Status scatterHostSums(GroupCall &call, const SumOptions &options,
                       const std::vector<Addend> &addends, Scratch &scratch,
                       void *result);

/// Reduces data[count] of all members in place. Pieces of it follow each other:
/// while one crosses the network, the hosts add the next one.
Status reduceOverHosts(GroupCall &call, const SumOptions &options, void *data,
                       int64_t count, Scratch &scratch);

/// Gathers a part of each member into `parts`; this member's own is `own`, and
/// its entry of `parts` has no data.
Status gatherOverHosts(GroupCall &call, OutBytes own,
                       const std::vector<InBytes> &parts);

/// Elements [begin, end) of a member's part.
struct MemberPart {
  int64_t begin, end;
};
MemberPart partOf(int64_t count, int64_t size, int64_t member);

} // namespace tessera

#endif // TESSERA_RUNTIME_COLLECTIVES_PROCESS_HOSTSUMS_H
