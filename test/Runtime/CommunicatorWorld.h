//===- CommunicatorWorld.h - all ranks' communicators in one test -----------===
#ifndef TESSERA_TEST_RUNTIME_COMMUNICATORWORLD_H
#define TESSERA_TEST_RUNTIME_COMMUNICATORWORLD_H

#include "Communicator.h"
#include "Metadata.h"
#include "ProcessRendezvous.h"

#include <gtest/gtest.h>
#include <memory>

namespace fixture {

/// Tcp: what processes would have, here on threads of one.
enum class Kind { Threads, Tcp };
std::string nameOf(const ::testing::TestParamInfo<Kind> &info);

struct WorldSettings {
  std::vector<tessera::Axis> axes;
  int timeoutMs = 60000;
  int threads = 1;
};

struct World {
  World(Kind kind, WorldSettings settings);
  World(World &&) = default;
  /// All at once: processes end together.
  ~World();

  tessera::Mesh mesh;
  std::vector<std::unique_ptr<tessera::Communicator>> ranks;
};

/// "127.0.0.1:PORT" with a port that was free a moment ago.
std::string freeRendezvous();
/// Of a test: short deadlines.
tessera::ProcessOptions processOf(int64_t rank, int64_t size,
                                  const std::string &rendezvous);

} // namespace fixture

#endif // TESSERA_TEST_RUNTIME_COMMUNICATORWORLD_H
