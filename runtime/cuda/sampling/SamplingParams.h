//===- SamplingParams.h - What kernels of sampling get ----------*- C++ -*-===//
// The problems of SamplingProblem.h, reduced to what kernels compute with; they
// travel as kernel parameters.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_SAMPLING_SAMPLINGPARAMS_H
#define TESSERA_RUNTIME_CUDA_SAMPLING_SAMPLINGPARAMS_H

#include "runtime/cuda/HostDevice.h"

#include <cstdint>

namespace tessera::cuda {

struct PenalizeParams {
  float *logits;
  const int32_t *seen; /* [rows, tokens] */
  const float *penalties;
  int rows, columns, start, valid, tokens;
};

struct TopParams {
  const float *logits;
  float *lists;
  const float *sharpness; /* null: nothing is drawn */
  const int32_t *draws;   /* [rows, 3] */
  int rows, columns, start, valid, total, count;
};

struct MergeTopParams {
  const float *parts;
  float *lists;
  int ranks, rows, count, numbers;
};

/// A value and its place; of none the value is -inf and the place the last.
struct Candidate {
  float value;
  int place;
};
constexpr int kNoPlace = 0x7fffffff;

TSR_DEVICE Candidate noCandidate() {
  return {-__builtin_huge_valf(), kNoPlace};
}
/// Returns whether the first of two stands first in a list. Values are no NaN.
TSR_DEVICE bool isBefore(const Candidate &a, const Candidate &b) {
  return a.value != b.value ? a.value > b.value : a.place < b.place;
}
TSR_DEVICE Candidate firstOf(const Candidate &a, const Candidate &b) {
  return isBefore(b, a) ? b : a;
}

/// A block takes a row.
struct BlockPerRow {
  static constexpr int kThreads = 256, kMinBlocks = 2;
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_SAMPLING_SAMPLINGPARAMS_H
