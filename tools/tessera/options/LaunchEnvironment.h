//===- LaunchEnvironment.h - what launchers tell a process ----------------===//

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
  /// "host:port"; "" for one process, and if nothing tells the host of rank 0.
  std::string rendezvous;
  std::string launcher; ///< Has started several processes; "" for one.
  std::string sizeName; ///< The variable that counts them.

  bool isAlone() const { return worldSize == 1; }
};

/// A variable's value; null if it is not set.
using Lookup = std::function<const char *(const char *)>;

/// Reads the variables of the first of these that has set its own: torchrun
/// (RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE), mpirun of Open MPI
/// (OMPI_COMM_WORLD_*) or of MPICH (PMI_RANK, PMI_SIZE, MPI_LOCALRANKID,
/// MPI_LOCALNRANKS), srun (SLURM_PROCID, SLURM_STEP_NUM_TASKS). A launcher may
/// be started by another one, once on each host: the first in this order is
/// then the inner one, which counts.
///
/// The rendezvous is at MASTER_ADDR, one port above MASTER_PORT, where torchrun
/// has its own store. Without them it is on Slurm's first host, or on this host
/// if no other has processes, and the port follows from the number of the job.
///
/// Returns why the values make no sense or contradict each other, or "".
std::string readLaunch(const Lookup &lookup, Launch &launch);

/// "node07" of "node[07-09,12],login1".
std::string firstHost(const std::string &nodeList);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_OPTIONS_LAUNCHENVIRONMENT_H
