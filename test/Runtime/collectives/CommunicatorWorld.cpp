#include "test/Runtime/collectives/CommunicatorWorld.h"

#include "runtime/collectives/mpi/MpiEngine.h"
#include "runtime/collectives/mpi/MpiMeeting.h"
#include "runtime/collectives/process/ProcessCommunicator.h"
#include "runtime/collectives/thread/ThreadCommunicator.h"

#include <cstdlib>
#include <thread>

using namespace tessera;

namespace fixture {

std::string nameOf(const ::testing::TestParamInfo<Kind> &info) {
  return info.param == Kind::Threads ? "Threads"
         : info.param == Kind::Tcp   ? "Tcp"
                                     : "Mpi";
}

ProcessOptions processOf(int64_t rank, int64_t size,
                         const std::string &rendezvous) {
  ProcessOptions options;
  options.rank = rank;
  options.worldSize = size;
  options.rendezvous = rendezvous;
  options.timeout = std::chrono::milliseconds(300000);
  return options;
}

static std::string describeOp(int64_t op) { return concat("op ", op); }

static void makeThreads(World &world, const WorldSettings &settings) {
  ThreadWorldOptions options;
  options.mesh = world.mesh;
  options.timeout = std::chrono::milliseconds(settings.timeoutMs);
  options.threadsPerRank = settings.threads;
  options.describeOp = describeOp;
  auto shared = std::make_shared<ThreadWorld>(options);
  for (int64_t rank = 0; rank < world.mesh.ranks(); ++rank)
    world.ranks.push_back(std::make_unique<ThreadCommunicator>(shared, rank));
}

static void makeProcesses(World &world, const WorldSettings &settings) {
  int64_t size = world.mesh.ranks();
  std::string rendezvous = freeRendezvous();
  std::vector<std::thread> threads;
  world.ranks.resize(size);
  world.processes.resize(size);
  for (int64_t rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      bool hasOwn = rank == 0 && settings.firstTimeoutMs != 0;
      int timeoutMs = hasOwn ? settings.firstTimeoutMs : settings.timeoutMs;
      ProcessLinks links = joinProcesses(processOf(rank, size, rendezvous), {});
      if (!settings.hosts.empty())
        links.hosts = settings.hosts;
      auto joined = std::make_shared<ProcessWorld>(
          std::move(links),
          ProcessWorldOptions{
              world.mesh, rank, std::chrono::milliseconds(timeoutMs),
              describeOp, std::chrono::milliseconds(settings.saveTimeoutMs)});
      world.processes[rank] = joined;
      world.ranks[rank] =
          std::make_unique<ProcessCommunicator>(joined, settings.threads);
    });
  for (std::thread &thread : threads)
    thread.join();
}

//===----------------------------------------------------------------------===//
// Processes of mpirun
//===----------------------------------------------------------------------===//

namespace {
/// Starts the MPI before the first test, and ends it after the last.
class MpiEnvironment : public ::testing::Environment {
  void SetUp() override { startMpi(0, 0, std::chrono::minutes(5)); }
  void TearDown() override { finishMpi(); }
};
} // namespace

static bool isMpiProcess() { return std::getenv("TESSERA_TEST_MPI"); }

std::vector<Kind> everyKind() {
  static const bool isMpi = [] {
    if (isMpiProcess())
      ::testing::AddGlobalTestEnvironment(new MpiEnvironment);
    return isMpiProcess();
  }();
  return isMpi ? std::vector<Kind>{Kind::Mpi}
               : std::vector<Kind>{Kind::Threads, Kind::Tcp};
}

/// All processes make each world, in the same order: they wait for each other
/// before, so that none calls the rendezvous of an earlier one.
static void makeMpiProcess(World &world, const WorldSettings &settings) {
  const MpiMembership &mpi = *startedMpi();
  const int64_t size = world.mesh.ranks();
  std::vector<char> come(static_cast<size_t>(mpi.size));
  mpi.plugin.check(mpi.plugin.table->gather_all("", come.data(), 1),
                   "MPI_Allgather");
  ASSERT_LE(size, mpi.size) << "start more processes";
  world.ranks.resize(size);
  world.processes.resize(size);
  if (mpi.rank >= size)
    return;
  ProcessOptions options = processOf(mpi.rank, size, mpi.rendezvous);
  options.secret = mpi.secret;
  options.hasDataElsewhere = true;
  ProcessLinks links = joinProcesses(options, {});
  if (!settings.hosts.empty())
    links.hosts = settings.hosts;
  auto joined = std::make_shared<ProcessWorld>(
      std::move(links),
      ProcessWorldOptions{
          world.mesh, mpi.rank, std::chrono::milliseconds(settings.timeoutMs),
          describeOp, std::chrono::milliseconds(settings.saveTimeoutMs)},
      makeMpiEngine(mpi.plugin, true));
  world.processes[mpi.rank] = joined;
  world.ranks[mpi.rank] =
      std::make_unique<ProcessCommunicator>(joined, settings.threads);
}

World::World(Kind kind, WorldSettings settings) {
  mesh.axes = settings.axes;
  if (kind == Kind::Threads)
    makeThreads(*this, settings);
  else if (kind == Kind::Tcp)
    makeProcesses(*this, settings);
  else
    makeMpiProcess(*this, settings);
}

World::~World() {
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    threads.emplace_back([this, rank] {
      ranks[rank].reset();
      if (rank < processes.size())
        processes[rank].reset();
    });
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace fixture
