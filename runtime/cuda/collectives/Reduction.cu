//===- Reduction.cu - elementwise, neighbours first -----------------------===//

#include "runtime/cuda/collectives/ReduceElement.h"
#include "tessera/abi.h"

namespace tessera::cuda {

namespace {
constexpr int threads = 256;
constexpr int64_t mostBlocks = 4096;

template <class T, class Op>
__global__ void reduceKernel(__grid_constant__ const Reduction what) {
  int64_t total = what.outer * what.count;
  int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t e = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; e < total;
       e += step)
    reduceElement<T, Op>(what, e);
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
