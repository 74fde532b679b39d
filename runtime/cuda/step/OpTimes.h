//===- OpTimes.h - when each op of a step ran on the GPU --------*- C++ -*-===//
// A step that is traced is queued call by call, with an event before and one
// after the work that each op puts into a stream. The host is ahead of the GPU
// where ops take longer than to queue them; elsewhere a time is the host's.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_STEP_OPTIMES_H
#define TESSERA_RUNTIME_CUDA_STEP_OPTIMES_H

#include "runtime/cuda/DeviceMemory.h"
#include "runtime/cuda/step/RoundCounts.h"
#include "runtime/device/Trace.h"

#include <deque>

namespace tessera::cuda {

class OpTimes {
public:
  /// Times count from here on.
  explicit OpTimes(cudaStream_t program);

  void begin(int64_t op, cudaStream_t stream);
  /// Ends the op that was begun last.
  void end(cudaStream_t stream);
  /// Reports times when the streams are done.
  void report(RankTrace &trace, const RoundCounts &rounds) const;

private:
  struct Span {
    int64_t op;
    cudaStream_t stream;
    Event begin{Event::Kind::Time}, end{Event::Kind::Time};
  };
  OpTrace::Clock::time_point timeOf(const Event &event) const;

  cudaStream_t program;
  OpTrace::Clock::time_point start;
  Event origin{Event::Kind::Time};
  std::deque<Span> spans; ///< events do not move
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_STEP_OPTIMES_H
