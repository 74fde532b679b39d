//===- ProcessRendezvous.h - how processes find each other ------*- C++ -*-===//
// Rank 0 listens; the others tell it where they listen and what they believe;
// when all have come and agree, everyone gets the table and connects to
// everyone, for data and for control. They listen on the address that the
// rendezvous names, and on the one from which they reach it.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_PROCESS_PROCESSRENDEZVOUS_H
#define TESSERA_RUNTIME_COLLECTIVES_PROCESS_PROCESSRENDEZVOUS_H

#include "runtime/collectives/process/Hello.h"
#include "runtime/collectives/process/Refusals.h"
#include "runtime/collectives/process/Socket.h"

#include <cstdint>
#include <vector>

namespace tessera {

struct ProcessOptions {
  int64_t worldSize = 1; ///< processes
  int64_t rank = 0;      ///< this process
  /// Its number among the processes of its host, and how many they are; size 0:
  /// found from the hosts' identities.
  int64_t localRank = 0, localSize = 0;
  std::string rendezvous; ///< "host:port", where rank 0 listens
  std::chrono::milliseconds timeout{300000};
  /// Only the processes of the run know it; "": there is none, and then only
  /// addresses of this machine are taken, or `trustsNetwork`.
  std::string secret;
  bool trustsNetwork = false;
  OperatorNote note; ///< told of refused connections, and of long waits
  bool hasDataElsewhere = false; ///< calls do not go over connections
  Processor processor; ///< this process's; equal in all if not compared
};

/// Checks options. TSR_INVALID_ARGUMENT.
void checkProcessOptions(const ProcessOptions &options);

/// The rendezvous can be reached from this machine alone.
bool meetOnThisMachine(const ProcessOptions &options);

struct ProcessLink {
  Socket data, background, control; ///< data by lane
};

struct ProcessLinks {
  /// One per rank; this rank's own is not connected.
  std::vector<ProcessLink> peers;
  /// The host of each rank: equal numbers reach each other without a network.
  std::vector<int64_t> hosts;
  int64_t localRank = 0, localSize = 1;
  SharedProcessor processor;
};

/// Joins the processes. TSR_TIMEOUT names who did not come, and who was refused
/// why; TSR_MISMATCH who does not agree; TSR_ABORTED who ended after all had
/// come; TSR_IO.
ProcessLinks joinProcesses(const ProcessOptions &options,
                           const Agreement &agreement);

/// Returns what the processors of all processes have in common, before they
/// join. Errors are those of joinProcesses.
SharedProcessor compareProcessors(const ProcessOptions &options);

} // namespace tessera

#endif // TESSERA_RUNTIME_COLLECTIVES_PROCESS_PROCESSRENDEZVOUS_H
