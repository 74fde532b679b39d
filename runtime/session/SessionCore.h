//===- SessionCore.h - the ranks of a session in this process ---*- C++ -*-===//
// Either all ranks of the mesh, as threads, or the one rank of this process.
// Held by every rank's thread: one that is stuck may still use it when the
// session is gone.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_SESSION_SESSIONCORE_H
#define TESSERA_RUNTIME_SESSION_SESSIONCORE_H

#include "runtime/artifact/Artifact.h"
#include "runtime/collectives/process/ProcessRendezvous.h"
#include "runtime/device/Cores.h"
#include "runtime/session/TensorAccess.h"

namespace tessera {

struct SessionOptions {
  std::string device = "cpu";
  /// "": "threads" in one process, else "tcp" on the CPU and "nccl" on CUDA.
  /// "mpi" needs startMpi before.
  std::string communicator;
  int threads = 0;
  int timeoutMs = 60000;
  int saveTimeoutMs = 1800000;
  int64_t seed = 0;
  bool poison = false;
  int64_t maxShardBytes = 0; ///< largest size of a file of weights; 0: one file
  ProcessOptions processes;
  /// Processes may have different ones, and then do not agree on bits.
  bool allowsMixedCpus = false;
  /// Compared between processes, beside what sessions compare.
  Agreement agreement;
};

struct SessionCore {
  std::shared_ptr<Device> device;
  std::shared_ptr<const Metadata> metadata;
  std::shared_ptr<ThreadWorld> world; ///< null where ranks are processes
  CorePlan cores;
  Ranks ranks;

  Communicator &communicator() const { return *ranks[0]->communicator; }
  bool failed() const { return communicator().failed(); }
  Status failure() const { return communicator().failure(); }
};

/// Describes the processor that this process computes with.
Processor ownProcessor();

/// Checks, finds the other processes, and makes the ranks without their
/// devices. `device`: null opens the one that the options name.
std::shared_ptr<SessionCore> makeCore(const Artifact &artifact,
                                      const SessionOptions &options,
                                      std::shared_ptr<Device> device);

} // namespace tessera

#endif // TESSERA_RUNTIME_SESSION_SESSIONCORE_H
