//===- Rank.h - one rank of a session ---------------------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_DEVICE_RANK_H
#define TESSERA_RUNTIME_DEVICE_RANK_H

#include "runtime/collectives/Communicator.h"
#include "runtime/collectives/thread/ThreadWorld.h"
#include "runtime/device/Background.h"
#include "runtime/device/Device.h"
#include "runtime/device/StartedMessages.h"

namespace tessera {

struct Rank {
  int64_t number = 0;
  int64_t localNumber = 0; ///< among the ranks of this machine
  std::vector<int64_t> coordinates;
  int64_t stage = 0; ///< pipeline stage
  std::shared_ptr<const Metadata> metadata;
  std::shared_ptr<const Code> code;
  /// Connects ranks that are threads of one process; null if they are
  /// processes.
  std::shared_ptr<ThreadWorld> world;
  /// Communicates host memory; a device with memory of its own takes only
  /// failures and progress from it.
  std::unique_ptr<Communicator> communicator;
  std::string communicatorName;
  std::chrono::milliseconds timeout{60000}; ///< for a collective
  int threads = 1;
  bool poison = false;
  /// The most rounds that a layer's experts took since it was set to 0.
  int64_t expertRounds = 0;
  /// Runs what is started in host memory; made by the first such call.
  std::unique_ptr<Background> background;
  StartedMessages messages;           ///< messages in host memory
  std::unique_ptr<RankTrace> trace;   ///< null: nobody wants one
  std::unique_ptr<DeviceRank> device; ///< uses the rest: destroyed first

  /// Returns whether the arena has a place for the tensor; its offset there.
  bool holds(const TensorInfo &tensor) const { return tensor.isAt(stage); }
  int64_t offsetOf(const TensorInfo &tensor) const {
    return tensor.offsetAt(stage);
  }
};

/// Runs a program on the rank's device; never throws. On a failure all ranks'
/// collectives fail too.
void runProgram(Rank &rank, const ProgramStep &step) noexcept;

} // namespace tessera

#endif // TESSERA_RUNTIME_DEVICE_RANK_H
