#include "test/Runtime/cuda/GpuWorld.h"

#include "runtime/collectives/process/ProcessCommunicator.h"
#include "runtime/collectives/thread/ThreadCommunicator.h"
#include "runtime/cuda/CudaDevice.h"

#include <mutex>
#include <thread>

using namespace tessera;

namespace gpu {

static Body current;

static int32_t program(const tsr_abi_frame *frame) {
  return current(Program{*frame});
}

template <class Each> void World::onEveryRank(const Each &each) {
  std::vector<std::thread> threads;
  for (auto &rank : ranks)
    threads.emplace_back([&each, &rank] {
      try {
        each(*rank);
      } catch (...) {
        rank->communicator->abort(currentStatus());
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

World::World(const WorldOptions &options) {
  current = options.body;
  metadata = std::make_shared<Metadata>();
  metadata->device = "cuda";
  metadata->mesh.axes = options.axes;
  metadata->arenaBytes = options.arenaBytes;
  metadata->tensors = options.tensors;
  metadata->ops.push_back({"test", "here", -1});
  code = std::make_shared<Code>(program, options.image);
  device = std::make_shared<cuda::CudaDevice>();
  for (int64_t number = 0; number < metadata->mesh.ranks(); ++number) {
    auto rank = std::make_unique<Rank>();
    rank->number = rank->localNumber = number;
    rank->coordinates = metadata->mesh.coordinates(number);
    rank->metadata = metadata;
    rank->code = code;
    rank->communicatorName = options.communicator;
    rank->timeout = std::chrono::milliseconds(options.timeoutMs);
    rank->poison = options.poison;
    ranks.push_back(std::move(rank));
  }
  options.hosts == Hosts::Threads ? connectThreads(options)
                                  : connectProcesses(options);
  openDevices(options);
}

void World::connectThreads(const WorldOptions &options) {
  ThreadWorldOptions settings;
  settings.mesh = metadata->mesh;
  settings.timeout = std::chrono::milliseconds(options.timeoutMs);
  settings.describeOp = describer();
  auto world = std::make_shared<ThreadWorld>(settings);
  for (auto &rank : ranks) {
    rank->world = world;
    rank->communicator =
        std::make_unique<ThreadCommunicator>(world, rank->number);
  }
}

void World::connectProcesses(const WorldOptions &options) {
  ProcessOptions process;
  {
    Socket free = std::move(listenOn({"127.0.0.1", 0}).front());
    process.rendezvous = concat("127.0.0.1:", portOf(free));
  }
  process.worldSize = size();
  std::vector<std::thread> threads;
  for (auto &rank : ranks)
    threads.emplace_back([&, process]() mutable {
      process.rank = rank->number;
      rank->communicator = std::make_unique<ProcessCommunicator>(
          std::make_shared<ProcessWorld>(
              joinProcesses(process, {}),
              ProcessWorldOptions{metadata->mesh, rank->number,
                                  std::chrono::milliseconds(options.timeoutMs),
                                  describer()}),
          1);
    });
  for (std::thread &thread : threads)
    thread.join();
}

DescribeOp World::describer() const {
  return [m = metadata](int64_t op) { return m->describeOp(op); };
}

/// Opens devices as sessions do: a process asks for its own rank, or for all.
void World::openDevices(const WorldOptions &options) {
  bool together = options.hosts == Hosts::Threads;
  for (int64_t first = 0; first < (together ? 1 : size()); ++first)
    device->check({"test",
                   options.communicator,
                   *metadata,
                   *code,
                   {first, together ? size() : 1, size()}});
  onEveryRank([&](Rank &rank) { rank.device = device->openRank(rank); });
  if (!failure().ok())
    throw Error(failure());
}

/// Devices one after the other: the stand-in's frees wait for all streams.
/// Processes end together.
World::~World() {
  for (auto &rank : ranks)
    rank->device.reset();
  onEveryRank([](Rank &rank) {
    if (!rank.world)
      rank.communicator.reset();
  });
  current = nullptr;
}

Status World::step(int64_t number, int64_t seed) {
  for (auto &rank : ranks)
    rank->communicator->entered();
  onEveryRank([&](Rank &rank) {
    runProgram(rank, {rank.code->step(), number, seed});
  });
  return failure();
}

WorldOptions single(int64_t arenaBytes, Body body) {
  WorldOptions options;
  options.axes = {{"dp", 1}};
  options.arenaBytes = arenaBytes;
  options.body = std::move(body);
  return options;
}

} // namespace gpu
