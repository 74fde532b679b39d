//===- Reduction.cu - elementwise, in rank order --------------------------===//

#include "Bf16.cuh"
#include "Reduction.h"
#include "tessera/abi.h"

namespace tessera::cuda {

namespace {
constexpr int threads = 256;
constexpr int64_t mostBlocks = 4096;

struct Add {
  template <class T> __device__ static T apply(T a, T b) { return a + b; }
  __device__ static int32_t apply(int32_t a, int32_t b) {
    return static_cast<int32_t>(static_cast<uint32_t>(a) +
                                static_cast<uint32_t>(b));
  }
};
struct Max {
  template <class T> __device__ static T apply(T a, T b) {
    return b > a || b != b ? b : a;
  }
};

template <class T, class Op>
__global__ void reduceKernel(__grid_constant__ const Reduction what) {
  int64_t total = what.outer * what.count;
  int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t e = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; e < total;
       e += step) {
    int64_t from =
        e / what.count * what.sourceStride + e % what.count + what.sourceOffset;
    auto value = widen(static_cast<const T *>(what.sources.data[0])[from]);
    for (int64_t s = 1; s < what.sources.count; ++s)
      value = Op::apply(
          value, widen(static_cast<const T *>(what.sources.data[s])[from]));
    T rounded = Narrow<T>::from(value);
    for (int64_t t = 0; t < what.targets.count; ++t)
      static_cast<T *>(what.targets.data[t])[e + what.targetOffset] = rounded;
  }
}

template <class T>
cudaError_t launchReduce(const Reduction &what, cudaStream_t stream) {
  int64_t blocks = (what.outer * what.count + threads - 1) / threads;
  if (blocks > mostBlocks)
    blocks = mostBlocks;
  auto grid = static_cast<unsigned>(blocks);
  if (what.reduction == TSR_REDUCE_MAX)
    reduceKernel<T, Max><<<grid, threads, 0, stream>>>(what);
  else
    reduceKernel<T, Add><<<grid, threads, 0, stream>>>(what);
  return cudaGetLastError();
}
} // namespace

cudaError_t reduce(const Reduction &what, cudaStream_t stream) {
  if (what.outer * what.count == 0)
    return cudaSuccess;
  switch (what.dtype) {
  case TSR_DTYPE_F32:
    return launchReduce<float>(what, stream);
  case TSR_DTYPE_BF16:
    return launchReduce<Bf16>(what, stream);
  case TSR_DTYPE_F64:
    return launchReduce<double>(what, stream);
  case TSR_DTYPE_I32:
    return launchReduce<int32_t>(what, stream);
  }
  return cudaErrorInvalidValue;
}

} // namespace tessera::cuda
