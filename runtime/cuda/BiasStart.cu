//===- BiasStart.cu - C before a product ----------------------------------===//

#include "Element.h"
#include "MatrixProducts.h"
#include "tessera/abi.h"

namespace tessera::cuda {

namespace {
constexpr int threads = 256;

struct Start {
  int64_t m, n, ld, stride, batch;
  bool accumulates;
};

template <class T>
__global__ void startKernel(Start start, T *c, const T *bias) {
  int64_t count = start.batch * start.m * start.n;
  int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += step) {
    int64_t column = i % start.n, row = i / start.n;
    T *at =
        c + row / start.m * start.stride + row % start.m * start.ld + column;
    decltype(widen(*at)) value = 0;
    if (bias)
      value += widen(bias[column]);
    if (start.accumulates)
      value += widen(*at);
    *at = Narrow<T>::from(value);
  }
}

template <class T>
cudaError_t launchStart(const GemmProblem &p, cudaStream_t stream) {
  Start start{p.m, p.n, p.ldc, p.strideC, p.batch, p.accumulate};
  int64_t blocks = (p.batch * p.m * p.n + threads - 1) / threads;
  if (blocks > 65535)
    blocks = 65535;
  startKernel<T><<<static_cast<unsigned>(blocks), threads, 0, stream>>>(
      start, static_cast<T *>(p.c), static_cast<const T *>(p.bias));
  return cudaGetLastError();
}
} // namespace

cudaError_t startFromBias(const GemmProblem &problem, cudaStream_t stream) {
  GemmProblem p = problem;
  if (p.strideC == 0)
    p.batch =
        1; // one C for all: without a bias it stays, with one it is added once
  if (p.dtypeC == TSR_DTYPE_F64)
    return launchStart<double>(p, stream);
  if (p.dtypeC == TSR_DTYPE_BF16)
    return launchStart<Bf16>(p, stream);
  return launchStart<float>(p, stream);
}

} // namespace tessera::cuda
