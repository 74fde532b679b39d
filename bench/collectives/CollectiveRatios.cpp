//===- CollectiveRatios.cpp - all-reduces of processes, in turns ----------===//
// Usage: mpirun -n N collective-ratios-MPI [most bytes]
// The same all-reduce over TCP, over the MPI's messages and by MPI_Allreduce
// itself, in turns because the machine's rate drifts; medians of the slowest
// rank's times. Under one mpirun, so all have the same processes and cores.
//===----------------------------------------------------------------------===//

#include "runtime/collectives/mpi/MpiEngine.h"
#include "runtime/collectives/mpi/MpiMeeting.h"
#include "runtime/collectives/process/ProcessCommunicator.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
// The C++ bindings of old MPIs are not wanted.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <thread>

using namespace tessera;
using Clock = std::chrono::steady_clock;

namespace {

constexpr int kTurns = 21;
/// A turn takes about this long, so that short calls are repeated.
constexpr double kTurnSeconds = 0.02;
constexpr int kMostRepetitions = 400;

struct Way {
  const char *name;
  std::function<void(float *, int64_t)> allReduce;
  std::vector<double> seconds;
};

std::shared_ptr<ProcessWorld> joinOver(const MpiMembership &mpi, bool isMpi) {
  ProcessOptions options;
  options.worldSize = mpi.size;
  options.rank = mpi.rank;
  options.rendezvous = mpi.rendezvous;
  options.secret = mpi.secret;
  options.hasDataElsewhere = isMpi;
  ProcessLinks links = joinProcesses(options, {});
  const bool isCrowded = links.localSize > std::thread::hardware_concurrency();
  ProcessWorldOptions world;
  world.mesh.axes = {{"dp", static_cast<int>(mpi.size)}};
  world.rank = mpi.rank;
  world.describeOp = [](int64_t op) { return concat("op ", op); };
  return std::make_shared<ProcessWorld>(
      std::move(links), std::move(world),
      isMpi ? makeMpiEngine(mpi.plugin, isCrowded) : nullptr);
}

Collective callOf(int64_t count, int dtype) {
  Collective call;
  call.op = 0;
  call.axes = 1;
  call.count = count;
  call.dtype = dtype;
  return call;
}

void check(const Status &status) {
  if (!status.ok())
    fail(status.code, status.message);
}

Way wayOver(const char *name, Communicator &communicator) {
  return {name,
          [&communicator](float *data, int64_t count) {
            check(communicator.allReduce(callOf(count, TSR_DTYPE_F32), data));
          },
          {}};
}

/// Returns the seconds of one call, the slowest rank's. Ranks meet over TCP,
/// where a wait sleeps: one that spins would take the cores of the others.
double measure(const Way &way, Communicator &meeting, float *data,
               int64_t count, int repetitions) {
  check(meeting.barrier(callOf(0, TSR_DTYPE_F32)));
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < repetitions; ++i)
    way.allReduce(data, count);
  const std::chrono::duration<double> taken = Clock::now() - start;
  double slowest = taken.count() / repetitions;
  Collective most = callOf(1, TSR_DTYPE_F64);
  most.reduction = TSR_REDUCE_MAX;
  check(meeting.allReduce(most, &slowest));
  return slowest;
}

double medianOf(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2,
                   values.end());
  return values[values.size() / 2];
}

void compare(std::vector<Way> &ways, Communicator &meeting, float *data,
             int64_t count) {
  std::vector<int> repetitions;
  for (Way &way : ways) {
    way.seconds.clear();
    const double once = measure(way, meeting, data, count, 1);
    repetitions.push_back(static_cast<int>(
        std::clamp(kTurnSeconds / once, 1.0, double(kMostRepetitions))));
  }
  for (int turn = 0; turn < kTurns; ++turn)
    for (size_t i = 0; i < ways.size(); ++i)
      ways[i].seconds.push_back(
          measure(ways[i], meeting, data, count, repetitions[i]));
}

int run(int64_t mostBytes) {
  const MpiMembership &mpi = startMpi(0, 0, std::chrono::minutes(5));
  std::shared_ptr<ProcessWorld> tcp = joinOver(mpi, false),
                                messages = joinOver(mpi, true);
  ProcessCommunicator overTcp(tcp, 1), overMpi(messages, 1);
  std::vector<Way> ways = {wayOver("tcp", overTcp), wayOver("mpi", overMpi)};
  ways.push_back({"MPI_Allreduce",
                  [](float *data, int64_t count) {
                    MPI_Allreduce(MPI_IN_PLACE, data, static_cast<int>(count),
                                  MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
                  },
                  {}});
  if (mpi.rank == 0)
    std::printf(
        "%s, %d processes, microseconds\n%10s %10s %10s %13s %8s %14s\n",
        mpi.plugin.table->library(), static_cast<int>(mpi.size), "bytes", "tcp",
        "mpi", "MPI_Allreduce", "mpi/tcp", "mpi/Allreduce");
  std::vector<float> data(static_cast<size_t>(mostBytes) / sizeof(float));
  double logs = 0;
  int sizes = 0;
  for (int64_t bytes = 8; bytes <= mostBytes; bytes *= 8, ++sizes) {
    compare(ways, overTcp, data.data(),
            bytes / static_cast<int64_t>(sizeof(float)));
    double micros[3];
    for (int i = 0; i < 3; ++i)
      micros[i] = 1e6 * medianOf(ways[i].seconds);
    logs += std::log(micros[1] / micros[2]);
    if (mpi.rank == 0)
      std::printf("%10lld %10.1f %10.1f %13.1f %8.2f %14.2f\n",
                  static_cast<long long>(bytes), micros[0], micros[1],
                  micros[2], micros[1] / micros[0], micros[1] / micros[2]);
  }
  if (mpi.rank == 0)
    std::printf("geometric mean of mpi/Allreduce: %.2f\n",
                std::exp(logs / sizes));
  return 0;
}
} // namespace

int main(int count, char **arguments) {
  try {
    const int64_t most =
        count > 1 ? std::atoll(arguments[1]) : int64_t(1) << 26;
    const int status = run(most);
    finishMpi();
    return status;
  } catch (const Error &error) {
    std::fprintf(stderr, "error: %s\n", error.status.message.c_str());
    return 1;
  }
}
