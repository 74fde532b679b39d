//===- Reduction.h - sums and maxima over the ranks' buffers ----*- C++ -*-===//
#ifndef TESSERA_RUNTIME_CUDA_COLLECTIVES_REDUCTION_H
#define TESSERA_RUNTIME_CUDA_COLLECTIVES_REDUCTION_H

#include <cstdint>
#include <cuda_runtime_api.h>

namespace tessera::cuda {

/// Ranks of a group of threads; the pointers travel as a kernel's parameter.
constexpr int64_t mostMembers = 64;

struct Buffers {
  int64_t count = 0;
  void *data[mostMembers] = {};
};

/// For o < outer, i < count: every target at o * count + i + targetOffset is
/// the reduction of all sources at o * sourceStride + i + sourceOffset, in the
/// order and with the rounding of Reduce.h: neighbours first, bf16 in f32 and
/// rounded once, a maximum with a NaN is NaN. A target may be a source at the
/// same index.
struct Reduction {
  int dtype, reduction;
  int64_t outer, count;
  int64_t sourceStride, sourceOffset, targetOffset;
  Buffers sources, targets;
};

cudaError_t reduce(const Reduction &what, cudaStream_t stream);

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_COLLECTIVES_REDUCTION_H
