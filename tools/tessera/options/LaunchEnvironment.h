//===- LaunchEnvironment.h - what torchrun and Slurm tell a process -------===//

#ifndef TESSERA_TOOLS_TESSERA_OPTIONS_LAUNCHENVIRONMENT_H
#define TESSERA_TOOLS_TESSERA_OPTIONS_LAUNCHENVIRONMENT_H

#include <cstdint>
#include <functional>
#include <string>

namespace tessera {

/// A process's place among those that a launcher has started.
struct Launch {
  int64_t worldSize = 1, rank = 0;
  int64_t localRank = 0, localSize = 0; ///< size 0: not known
  std::string rendezvous;               ///< "host:port"; "" for one process

  bool isAlone() const { return worldSize == 1; }
};

/// A variable's value; null if it is not set.
using Lookup = std::function<const char *(const char *)>;

/// Reads RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR and
/// MASTER_PORT, as torchrun sets them; without RANK and WORLD_SIZE Slurm's
/// SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID and the first host of its list.
/// The rendezvous is one port above MASTER_PORT, where torchrun has its own.
/// Returns why the values make no sense, or "".
std::string readLaunch(const Lookup &lookup, Launch &launch);

/// "node07" of "node[07-09,12],login1".
std::string firstHost(const std::string &nodeList);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_OPTIONS_LAUNCHENVIRONMENT_H
