//===- HostTraffic.cpp - one rank of all-reduces over TCP -----------------===//
// Usage: host-traffic RANK RANKS HOST:PORT BYTES f32|bf16 hosts|direct RUNS
// Started by namespaces.py, once for each rank. Rank 0 prints the median time
// of an all-reduce in seconds. `direct` takes each rank for a host of its own,
// so that each sends all of its data to each other one.
//===----------------------------------------------------------------------===//

#include "runtime/collectives/process/ProcessCommunicator.h"
#include "runtime/support/DType.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>

using namespace tessera;
using Clock = std::chrono::steady_clock;

static std::shared_ptr<ProcessWorld> join(char **arguments, bool isDirect) {
  ProcessOptions options;
  options.rank = std::atoll(arguments[1]);
  options.worldSize = std::atoll(arguments[2]);
  options.rendezvous = arguments[3];
  options.trustsNetwork = true;
  ProcessLinks links = joinProcesses(options, {});
  if (isDirect)
    std::iota(links.hosts.begin(), links.hosts.end(), 0);
  ProcessWorldOptions world;
  world.mesh.axes = {{"dp", static_cast<int>(options.worldSize)}};
  world.rank = options.rank;
  world.describeOp = [](int64_t op) { return concat("op ", op); };
  return std::make_shared<ProcessWorld>(std::move(links), std::move(world));
}

static void run(char **arguments) {
  std::shared_ptr<ProcessWorld> world =
      join(arguments, std::string(arguments[6]) == "direct");
  ProcessCommunicator communicator(world, 1);
  Collective call;
  call.op = 0;
  call.axes = 1;
  call.dtype =
      std::string(arguments[5]) == "bf16" ? TSR_DTYPE_BF16 : TSR_DTYPE_F32;
  const int64_t bytes = std::atoll(arguments[4]);
  call.count = bytes / dtypeBytes(call.dtype);
  std::vector<unsigned char> data(static_cast<size_t>(bytes));
  std::vector<double> seconds;
  for (int i = 0; i < std::atoi(arguments[7]); ++i) {
    const Clock::time_point start = Clock::now();
    if (Status status = communicator.allReduce(call, data.data()); !status.ok())
      fail(status.code, status.message);
    seconds.push_back(
        std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::sort(seconds.begin(), seconds.end());
  if (world->options().rank == 0)
    std::printf("%.6f\n", seconds[seconds.size() / 2]);
}

int main(int count, char **arguments) {
  if (count != 8) {
    std::fprintf(stderr, "usage: host-traffic RANK RANKS HOST:PORT BYTES "
                         "f32|bf16 hosts|direct RUNS\n");
    return 2;
  }
  try {
    run(arguments);
    return 0;
  } catch (const Error &error) {
    std::fprintf(stderr, "error: %s\n", error.status.message.c_str());
    return 1;
  }
}
