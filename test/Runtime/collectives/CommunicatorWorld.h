//===- CommunicatorWorld.h - all ranks' communicators in one test ---------===//
#ifndef TESSERA_TEST_RUNTIME_COLLECTIVES_COMMUNICATORWORLD_H
#define TESSERA_TEST_RUNTIME_COLLECTIVES_COMMUNICATORWORLD_H

#include "runtime/artifact/Metadata.h"
#include "runtime/collectives/Communicator.h"
#include "runtime/collectives/process/ProcessWorld.h"
#include "test/Runtime/fixture/Fixture.h"

#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <thread>

namespace fixture {

/// Tcp: what processes would have, here on threads of one. Mpi: this process is
/// one rank, and mpirun has started the others; a mesh of fewer ranks leaves
/// the last processes out.
enum class Kind { Threads, Tcp, Mpi };
/// Returns what can be tested here: Mpi alone if TESSERA_TEST_MPI is set.
std::vector<Kind> everyKind();
std::string nameOf(const ::testing::TestParamInfo<Kind> &info);

struct WorldSettings {
  std::vector<tessera::Axis> axes;
  int timeoutMs = 60000;
  int threads = 1;
  // The next two are for processes alone.
  int firstTimeoutMs = 0; ///< rank 0's, if it has another
  int saveTimeoutMs = 60000;
  std::vector<int64_t> hosts = {}; ///< each rank's; none: the true ones
};

struct World {
  World(Kind kind, WorldSettings settings);
  World(World &&) = default;
  /// All at once: processes end together.
  ~World();

  tessera::Mesh mesh;
  std::vector<std::unique_ptr<tessera::Communicator>> ranks;
  /// Worlds of ranks that are processes; none for threads.
  std::vector<std::shared_ptr<tessera::ProcessWorld>> processes;
};

class Conformance : public ::testing::TestWithParam<Kind> {
protected:
  World makeWorld(std::vector<tessera::Axis> axes, int timeoutMs = 60000,
                  int threads = 1) {
    return World(GetParam(), {std::move(axes), timeoutMs, threads});
  }
};
/// Tests of calls that fail, beside those of calls that work.
class CommunicatorFailure : public Conformance {};

/// Runs body(rank) on a thread for each rank that is in this process.
template <class Body>
inline void onRanks(const World &world, const Body &body) {
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < world.ranks.size(); ++rank)
    if (world.ranks[rank])
      threads.emplace_back([&, rank] { body(static_cast<int64_t>(rank)); });
  for (std::thread &thread : threads)
    thread.join();
}

inline tessera::Collective call(int64_t axes, int64_t count,
                                int dtype = TSR_DTYPE_F32) {
  tessera::Collective result;
  result.op = 1;
  result.axes = axes;
  result.count = count;
  result.dtype = dtype;
  return result;
}

/// Ranks that are late at random.
class Delay {
public:
  explicit Delay(int64_t rank) : random(rank + 1) {}
  void operator()() {
    unsigned draw = random() % 8;
    if (draw == 0)
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
    else if (draw < 4)
      std::this_thread::yield();
  }

private:
  std::mt19937 random;
};

/// Options of a test: short deadlines.
tessera::ProcessOptions processOf(int64_t rank, int64_t size,
                                  const std::string &rendezvous);

} // namespace fixture

#endif // TESSERA_TEST_RUNTIME_COLLECTIVES_COMMUNICATORWORLD_H
