//===- DeviceTime.h - How long queued work takes ----------------*- C++ -*-===//
#ifndef TESSERA_BENCH_GPU_DEVICETIME_H
#define TESSERA_BENCH_GPU_DEVICETIME_H

#include "runtime/cuda/Check.h"

#include <algorithm>
#include <vector>

namespace tessera::cuda {

/// Returns the median seconds of `repetitions` of what `work` queues, after as
/// many to warm up.
template <class Work>
double secondsOf(cudaStream_t stream, int repetitions, const Work &work) {
  cudaEvent_t start, end;
  check(cudaEventCreate(&start), "making an event");
  check(cudaEventCreate(&end), "making an event");
  std::vector<float> milliseconds(repetitions);
  for (int warm = 0; warm < repetitions; ++warm)
    work();
  for (float &one : milliseconds) {
    check(cudaEventRecord(start, stream), "recording");
    work();
    check(cudaEventRecord(end, stream), "recording");
    check(cudaEventSynchronize(end), "measuring");
    check(cudaEventElapsedTime(&one, start, end), "measuring");
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  return milliseconds[repetitions / 2] * 1e-3;
}

} // namespace tessera::cuda

#endif // TESSERA_BENCH_GPU_DEVICETIME_H
