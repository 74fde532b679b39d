//===- Cores.h - how ranks share the machine's cores ------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_DEVICE_CORES_H
#define TESSERA_RUNTIME_DEVICE_CORES_H

#include <cstdint>
#include <string>
#include <vector>

namespace tessera {

struct CorePlan {
  int threadsPerRank = 1;
  /// Threads of a rank while it fills its state and computes nothing: its share
  /// of the cores that this process may use, if that is more.
  int fillingThreads = 1;
  bool oversubscribed = false; ///< more ranks than cores: waits must not spin
  /// Cores of every rank; empty where ranks are not pinned.
  std::vector<std::vector<int>> pinned;
};

/// Plans the cores of ranks. `threads` is for all ranks together, 0: every core
/// this process may use. Ranks are pinned only when they take the whole
/// machine: otherwise other processes would be pinned to the same cores.
CorePlan planCores(int64_t ranks, int threads);

/// Plans the cores of a process with one rank beside others on this machine. 0
/// threads: its share of the cores, to which it is pinned, those of a NUMA node
/// if the numbers allow that; or all cores that the launcher has bound it to.
CorePlan planProcessCores(int64_t localRank, int64_t localSize, int threads);

/// Describes the cores that this process may use: "8 of 64 for this process, in
/// 2 NUMA nodes of 4 and 4".
std::string describeCores();

/// Pins the calling thread, and the threads it creates. Best effort.
void pinThread(const std::vector<int> &cores);

} // namespace tessera

#endif // TESSERA_RUNTIME_DEVICE_CORES_H
