#include "GpuWorld.h"

#include "../../runtime/cuda/CudaDevice.h"
#include "ThreadCommunicator.h"

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
  metadata->ops.push_back({"test", "here", -1});
  auto code = std::make_shared<Code>(program, options.image);
  device = std::make_shared<cuda::CudaDevice>();
  device->check({"test", "threads", *metadata, *code});
  ThreadWorldOptions settings;
  settings.mesh = metadata->mesh;
  settings.timeout = std::chrono::milliseconds(options.timeoutMs);
  settings.describeOp = [m = metadata](int64_t op) {
    return m->describeOp(op);
  };
  world = std::make_shared<ThreadWorld>(settings);
  for (int64_t number = 0; number < metadata->mesh.ranks(); ++number) {
    auto rank = std::make_unique<Rank>();
    rank->number = number;
    rank->coordinates = metadata->mesh.coordinates(number);
    rank->metadata = metadata;
    rank->code = code;
    rank->world = world;
    rank->communicator = std::make_unique<ThreadCommunicator>(world, number);
    rank->communicatorName = "threads";
    rank->poison = options.poison;
    ranks.push_back(std::move(rank));
  }
  onEveryRank([&](Rank &rank) { rank.device = device->openRank(rank); });
  if (world->failed())
    throw Error(world->failure());
}

World::~World() { current = nullptr; }

Status World::step(int64_t number, int64_t seed) {
  for (auto &rank : ranks)
    rank->communicator->entered();
  onEveryRank([&](Rank &rank) { runProgram(rank, number, seed); });
  return world->failure();
}

WorldOptions single(int64_t arenaBytes, Body body) {
  WorldOptions options;
  options.axes = {{"dp", 1}};
  options.arenaBytes = arenaBytes;
  options.body = std::move(body);
  return options;
}

} // namespace gpu
