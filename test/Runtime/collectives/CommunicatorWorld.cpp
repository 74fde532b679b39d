#include "test/Runtime/collectives/CommunicatorWorld.h"

#include "runtime/collectives/process/TcpCommunicator.h"
#include "runtime/collectives/thread/ThreadCommunicator.h"

#include <thread>

using namespace tessera;

namespace fixture {

std::string nameOf(const ::testing::TestParamInfo<Kind> &info) {
  return info.param == Kind::Threads ? "Threads" : "Tcp";
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
  for (int64_t rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      bool hasOwn = rank == 0 && settings.firstTimeoutMs != 0;
      int timeoutMs = hasOwn ? settings.firstTimeoutMs : settings.timeoutMs;
      auto joined = std::make_shared<ProcessWorld>(
          joinProcesses(processOf(rank, size, rendezvous), {}),
          ProcessWorldOptions{
              world.mesh, rank, std::chrono::milliseconds(timeoutMs),
              describeOp, std::chrono::milliseconds(settings.saveTimeoutMs)});
      world.ranks[rank] =
          std::make_unique<TcpCommunicator>(joined, settings.threads);
    });
  for (std::thread &thread : threads)
    thread.join();
}

World::World(Kind kind, WorldSettings settings) {
  mesh.axes = settings.axes;
  kind == Kind::Threads ? makeThreads(*this, settings)
                        : makeProcesses(*this, settings);
}

World::~World() {
  std::vector<std::thread> threads;
  for (auto &rank : ranks)
    threads.emplace_back([&rank] { rank.reset(); });
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace fixture
