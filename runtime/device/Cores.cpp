#include "runtime/device/Cores.h"

#include "runtime/device/NumaNodes.h"
#include "runtime/support/Status.h"

#include <algorithm>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

namespace tessera {

static std::vector<int> allowedCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (int i = 0; i < CPU_SETSIZE; ++i)
      if (CPU_ISSET(i, &set))
        cores.push_back(i);
  if (cores.empty())
    cores.push_back(0);
  return cores;
}

CorePlan planCores(int64_t ranks, int threads) {
  std::vector<int> cores = allowedCores();
  int64_t available = static_cast<int64_t>(cores.size());
  int64_t total = threads > 0 ? threads : available;
  CorePlan plan;
  plan.threadsPerRank = static_cast<int>(std::max<int64_t>(total / ranks, 1));
  plan.fillingThreads =
      std::max(plan.threadsPerRank, static_cast<int>(available / ranks));
  int64_t used = plan.threadsPerRank * ranks;
  plan.oversubscribed = used > available;
  if (ranks == 1 || total != available || plan.oversubscribed)
    return plan;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    auto first = cores.begin() + rank * plan.threadsPerRank;
    plan.pinned.emplace_back(first, first + plan.threadsPerRank);
  }
  return plan;
}

CorePlan planProcessCores(int64_t localRank, int64_t localSize, int threads) {
  const std::vector<int> cores = allowedCores();
  auto allowed = static_cast<int64_t>(cores.size());
  const int64_t online = sysconf(_SC_NPROCESSORS_ONLN);
  bool isBound = allowed < online;
  std::vector<int> own;
  if (!isBound && localSize > 1 && localSize <= allowed)
    own = shareOfCores(numaNodesOf(cores), localSize, localRank);
  int64_t share = isBound       ? allowed
                  : own.empty() ? std::max<int64_t>(allowed / localSize, 1)
                                : static_cast<int64_t>(own.size());
  CorePlan plan = planCores(1, threads > 0 ? threads : static_cast<int>(share));
  plan.fillingThreads = std::max(plan.threadsPerRank, static_cast<int>(share));
  plan.oversubscribed = localSize > online;
  if (threads == 0 && !own.empty())
    plan.pinned = {std::move(own)};
  return plan;
}

std::string describeCores() {
  const std::vector<int> cores = allowedCores();
  const NumaNodes nodes = numaNodesOf(cores);
  std::string text = concat(cores.size(), " of ", sysconf(_SC_NPROCESSORS_ONLN),
                            " for this process, in ", nodes.size(),
                            " NUMA node", nodes.size() == 1 ? "" : "s");
  if (nodes.size() > 1)
    for (size_t i = 0; i < nodes.size(); ++i)
      text += concat(i == 0                 ? " of "
                     : i + 1 < nodes.size() ? ", "
                                            : " and ",
                     nodes[i].size());
  return text;
}

void pinThread(const std::vector<int> &cores) {
  if (cores.empty())
    return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int core : cores)
    CPU_SET(core, &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

} // namespace tessera
