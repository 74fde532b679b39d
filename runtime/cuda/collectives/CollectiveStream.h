//===- CollectiveStream.h - where a rank's collectives run ------*- C++ -*-===//
// All collectives of a rank run on a stream of their own, in the order of their
// starts: NCCL must see one order on all ranks. Events are the only ties to the
// stream of the program, so a captured step keeps the fork and the join.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_COLLECTIVES_COLLECTIVESTREAM_H
#define TESSERA_RUNTIME_CUDA_COLLECTIVES_COLLECTIVESTREAM_H

#include "runtime/cuda/DeviceMemory.h"

#include <map>

namespace tessera::cuda {

class CollectiveStream {
public:
  explicit CollectiveStream(cudaStream_t program) : program(program) {}

  cudaStream_t get() const { return stream.get(); }
  /// Orders all that is queued from here on after what the program has queued.
  void fork();
  /// Marks the work that has been queued as done when `join` of the same buffer
  /// is reached.
  void finish(const void *buffer) { done[buffer].record(stream.get()); }
  /// The program goes on after what was finished; TSR_INTERNAL if nothing was.
  void join(const void *buffer);

private:
  cudaStream_t program;
  Stream stream;
  Event forked;
  std::map<const void *, Event> done; ///< keyed by the buffer that is written
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_COLLECTIVES_COLLECTIVESTREAM_H
