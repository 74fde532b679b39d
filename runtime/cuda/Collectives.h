//===- Collectives.h - collectives in stream order --------------*- C++ -*-===//
// Like Communicator, but calls only queue work on the rank's stream. Buffers
// are device memory. Every rank of a group makes the same calls in the same
// order.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_CUDA_COLLECTIVES_H
#define TESSERA_CUDA_COLLECTIVES_H

#include "Communicator.h"

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

  /// A call that will be made, and the making of what the calls noted so far
  /// need: connections, memory. Ranks note the same.
  virtual void note(const Collective &call) = 0;
  virtual Status connect() = 0;

  virtual Status allReduce(const Collective &call, void *data) = 0;
  virtual Status allGather(const Collective &call, const void *src,
                           void *dst) = 0;
  virtual Status reduceScatter(const Collective &call, const void *src,
                               void *dst) = 0;

  /// Whether calls may be captured into a CUDA graph: they need nothing of the
  /// host when the graph runs.
  virtual bool isCapturable() const = 0;
  /// The rank begins to wait for its stream: from here a time-out counts.
  virtual void startWaiting() {}
  /// A failure of queued work, while the rank waits.
  virtual Status poll() = 0;
  /// For people.
  virtual std::string describe() const = 0;
};

/// Ranks are threads of this process; they share one GPU or several that reach
/// each other's memory.
std::unique_ptr<Collectives> makeThreadCollectives(Rank &rank, int device,
                                                   cudaStream_t stream);
/// One GPU per rank, through NCCL. TSR_UNSUPPORTED, TSR_NOT_FOUND.
std::unique_ptr<Collectives> makeNcclCollectives(Rank &rank,
                                                 cudaStream_t stream);
/// Throws if `ranks` ranks on `devices` GPUs cannot use NCCL.
void checkNccl(int64_t ranks, int devices);
/// "2.28.3"; empty if there is none.
std::string ncclVersion();

} // namespace tessera::cuda

#endif // TESSERA_CUDA_COLLECTIVES_H
