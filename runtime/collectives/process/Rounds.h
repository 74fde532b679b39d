//===- Rounds.h - few bytes among many processes ----------------*- C++ -*-===//
// log2(n) rounds in place of n (n - 1) messages.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_PROCESS_ROUNDS_H
#define TESSERA_RUNTIME_COLLECTIVES_PROCESS_ROUNDS_H

#include "runtime/collectives/process/GroupCall.h"

namespace tessera {

/// Gathers a block of each member. `blocks` has room for all of them, this
/// member's is the first; the block of the member `group.after(i)` becomes
/// number i. Round k doubles what a member has (J. Bruck et al., "Efficient
/// algorithms for all-to-all communications", 1997). No blocks: a barrier.
Status gatherInRounds(GroupCall &call, unsigned char *blocks, int64_t bytes);

/// Sends `data` of a member to all: to one member of each other host first, and
/// from there to the others of the host. No byte reaches a host twice.
Status broadcastInRounds(GroupCall &call, int64_t root, void *data,
                         int64_t bytes);

} // namespace tessera

#endif // TESSERA_RUNTIME_COLLECTIVES_PROCESS_ROUNDS_H
