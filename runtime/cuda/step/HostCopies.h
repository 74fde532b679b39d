//===- HostCopies.h - what a step takes from and leaves on the host -------===//
// Pinned memory: the GPU copies while the host goes on, a captured step too.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_STEP_HOSTCOPIES_H
#define TESSERA_RUNTIME_CUDA_STEP_HOSTCOPIES_H

#include "runtime/cuda/DeviceMemory.h"
#include "runtime/device/Rank.h"

namespace tessera::cuda {

/// Room for all inputs of a step.
class Uploads {
public:
  explicit Uploads(const Rank &rank);

  /// Null: there is not as much left before the next `release`.
  unsigned char *take(int64_t bytes);
  /// Releases what was taken, once the GPU has read it.
  void release() { taken = 0; }

private:
  PinnedMemory memory;
  int64_t size = 0, taken = 0;
};

/// Pieces of large tensors on their way to the GPU, in turns: one is filled
/// again when the GPU has read it.
class Pieces {
public:
  /// Waits until the GPU has read what this piece held before.
  unsigned char *take(int64_t bytes);
  /// Notes that the copy from `host` was put on the stream, if that is a piece.
  void sent(const void *host, cudaStream_t stream);
  /// Frees the memory; the GPU reads none of it any more.
  void release();

private:
  struct Piece {
    PinnedMemory memory;
    Event read;
  };
  std::vector<std::unique_ptr<Piece>> pieces;
  size_t next = 0;
};

/// The small outputs of a step, its loss for one, on the host when it ends:
/// reading them waits for nothing.
class StepResults {
public:
  explicit StepResults(const Rank &rank);

  /// Queues the copies at the end of a step's work.
  void queue(const unsigned char *arena, cudaStream_t stream) const;
  /// Says that the copies which were queued are here; they are valid until the
  /// arena may differ from them.
  void hold() { isHeld = true; }
  void forget() { isHeld = false; }
  /// Reads bytes that are here; returns false if they are not, and leaves
  /// `host` as it was.
  bool read(int64_t offset, int64_t bytes, void *host) const;

private:
  struct Result {
    int64_t offset, bytes; ///< in the arena
    int64_t at;            ///< in `memory`
  };
  std::vector<Result> results;
  PinnedMemory memory;
  bool isHeld = false;
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_STEP_HOSTCOPIES_H
