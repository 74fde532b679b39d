//===- Collectives.h - collectives in stream order --------------*- C++ -*-===//
// Like Communicator, but calls only queue work on the rank's stream. Buffers
// are device memory. Every rank of a group makes the same calls in the same
// order.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_COLLECTIVES_COLLECTIVES_H
#define TESSERA_RUNTIME_CUDA_COLLECTIVES_COLLECTIVES_H

#include "runtime/collectives/Communicator.h"
#include "runtime/device/Device.h"

#include <cuda_runtime_api.h>
#include <memory>
#include <string>

namespace tessera {
struct Rank;
}

namespace tessera::cuda {

class Collectives {
public:
  virtual ~Collectives() = default;

  /// Announces a call that will be made. The ranks of a group announce it
  /// alike. `entry` is one of TSR_ENTRY_*.
  virtual void announce(int entry, const Collective &call) = 0;
  virtual void announce(const Coalesced &what) = 0;
  virtual void announce(const Message &message) = 0;
  /// Makes what the announced calls need: connections and memory.
  virtual Status connect() = 0;

  virtual Status allReduce(const Collective &call, void *data) = 0;
  virtual Status allGather(const Collective &call, const void *src,
                           void *dst) = 0;
  virtual Status reduceScatter(const Collective &call, const void *src,
                               void *dst) = 0;
  virtual Status allGatherCoalesced(const Coalesced &what) = 0;
  virtual Status reduceScatterCoalesced(const Coalesced &what) = 0;
  virtual Status allToAll(const Collective &call, const void *src,
                          void *dst) = 0;
  virtual Status broadcast(const Collective &call, int64_t root,
                           void *data) = 0;
  /// src of the rank before -> dst.
  virtual Status shift(const Shift &call, const void *src, void *dst) = 0;
  virtual Status zigzag(const Zigzag &call, const ZigzagBuffers &own) = 0;
  virtual Status send(const Message &message, const void *data) = 0;
  virtual Status receive(const Message &message, void *data) = 0;

  /// Returns whether calls may be captured into a CUDA graph: they need nothing
  /// of the host when the graph runs.
  virtual bool isCapturable() const = 0;
  /// Says that the rank begins to wait for its stream: from here a time-out
  /// counts.
  virtual void startWaiting() {}
  /// Returns a failure of queued work, while the rank waits.
  virtual Status poll() = 0;
  /// Returns a description for people.
  virtual std::string describe() const = 0;
};

/// Ranks are threads of this process; they share one GPU or several that reach
/// each other's memory.
std::unique_ptr<Collectives> makeThreadCollectives(Rank &rank, int device,
                                                   cudaStream_t stream);
/// Makes collectives for one GPU per rank, through NCCL, in one process or a
/// process per rank; the ranks find each other by their communicator between
/// hosts.
std::unique_ptr<Collectives> makeNcclCollectives(Rank &rank, int device,
                                                 cudaStream_t stream);
/// Throws if this process's ranks on its `devices` GPUs cannot use NCCL.
void checkNccl(const LocalRanks &ranks, int devices);
/// Returns "2.28.3"; empty if there is no NCCL.
std::string ncclVersion();

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_COLLECTIVES_COLLECTIVES_H
