//===- WorldCommunicator.h - endpoint of one rank in a world ----*- C++ -*-===//
// Endpoints share these parts whatever their ranks are: the world that knows of
// the first failure, and the lane that calls.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_WORLDCOMMUNICATOR_H
#define TESSERA_RUNTIME_COLLECTIVES_WORLDCOMMUNICATOR_H

#include "runtime/collectives/Communicator.h"

#include <utility>

namespace tessera {

/// `World` is what all ranks' endpoints meet in: ThreadWorld, ProcessWorld.
template <class World> class WorldCommunicator : public Communicator {
public:
  void abort(const Status &status) final { world->abort(status); }
  Status failure() const final { return world->failure(); }
  bool failed() const final { return world->failed(); }

protected:
  /// In the background it has one thread and tells nobody where the rank is.
  WorldCommunicator(std::shared_ptr<World> world, Lane lane, int threads)
      : world(std::move(world)), lane(lane),
        threads(lane == Lane::Program ? threads : 1) {}

  std::shared_ptr<World> world;
  Lane lane;
  int threads;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_COLLECTIVES_WORLDCOMMUNICATOR_H
