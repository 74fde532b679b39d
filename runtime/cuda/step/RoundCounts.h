//===- RoundCounts.h - rounds of experts that a step took -------*- C++ -*-===//
// Only the device knows how many rounds the gates need. Each op that numbers
// them has a count there, which a step sets to 0 and copies to the host.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_STEP_ROUNDCOUNTS_H
#define TESSERA_RUNTIME_CUDA_STEP_ROUNDCOUNTS_H

#include "runtime/cuda/DeviceMemory.h"

#include <map>

namespace tessera::cuda {

class RoundCounts {
public:
  /// The program will number rounds in `op`.
  void announce(int64_t op) { places.emplace(op, places.size()); }
  bool needsMemory() const { return bytes() > counts.size(); }
  void allocate();

  /// Returns where the op writes the most rounds that it made.
  int *at(int64_t op) const;
  void clear(cudaStream_t stream) const;
  void queue(cudaStream_t stream) const;

  /// Returns the count of the last step, when its stream is done; 0 for other
  /// ops.
  int64_t of(int64_t op) const;
  int64_t most() const;

private:
  int64_t bytes() const {
    return static_cast<int64_t>(places.size() * sizeof(int));
  }

  std::map<int64_t, size_t> places; ///< one for each op
  DeviceMemory counts;
  PinnedMemory copies;
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_STEP_ROUNDCOUNTS_H
