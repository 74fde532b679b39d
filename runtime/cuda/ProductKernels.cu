//===- ProductKernels.cu - before and behind a product --------------------===//

#include "MatrixProducts.h"
#include "ProductElements.h"
#include "tessera/abi.h"

namespace tessera::cuda {

namespace {
constexpr int threads = 256;
/// Sums per block, and threads that share the terms of one.
constexpr int sumColumns = 32, sumRows = 32;

unsigned blocksFor(int64_t elements) {
  constexpr int64_t most = 65535;
  int64_t blocks = (elements + threads - 1) / threads;
  return static_cast<unsigned>(blocks < most ? blocks : most);
}

template <class T>
__global__ void startKernel(ProductStart start, T *c, const T *bias) {
  int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
       i < start.batch * start.m * start.n; i += step)
    startElement(start, c, bias, i);
}

template <class T>
__global__ void geluKernel(GeluRows rows, int64_t count, T *c, const T *aux) {
  int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += step)
    geluElement(rows, c, aux, i);
}

/// Terms are shared out to rows of threads, whose sums are added in order.
template <class In, class Out>
__global__ void sumsKernel(GemmTerms terms, Out *sums) {
  using Wide = decltype(widen(In()));
  __shared__ Wide parts[sumRows][sumColumns];
  int64_t i = int64_t(blockIdx.x) * sumColumns + threadIdx.x;
  parts[threadIdx.y][threadIdx.x] =
      i < terms.count ? sumTerms<In>(terms, i, threadIdx.y, sumRows) : Wide(0);
  __syncthreads();
  if (threadIdx.y != 0 || i >= terms.count)
    return;
  Wide sum = 0;
  for (int row = 0; row < sumRows; ++row)
    sum += parts[row][threadIdx.x];
  sums[i] = Narrow<Out>::from(sum);
}

template <class T> void launchStart(const GemmProblem &p, cudaStream_t stream) {
  ProductStart start{p.m, p.n, p.ldc, p.strideC, p.batch, p.accumulate};
  startKernel<T><<<blocksFor(p.batch * p.m * p.n), threads, 0, stream>>>(
      start, static_cast<T *>(p.c), static_cast<const T *>(p.bias));
}

template <class T> void launchGelu(const GemmProblem &p, cudaStream_t stream) {
  GeluRows rows{p.n, p.ldc, p.ldaux, p.epilogue == TSR_GEMM_EPILOGUE_GELU_GRAD};
  geluKernel<T><<<blocksFor(p.m * p.n), threads, 0, stream>>>(
      rows, p.m * p.n, static_cast<T *>(p.c), static_cast<const T *>(p.aux));
}

template <class In, class Out>
void launchSums(const GemmProblem &p, cudaStream_t stream) {
  GemmTerms terms = termsOf(p);
  auto blocks =
      static_cast<unsigned>((terms.count + sumColumns - 1) / sumColumns);
  sumsKernel<In, Out><<<blocks, dim3(sumColumns, sumRows), 0, stream>>>(
      terms, static_cast<Out *>(p.sums));
}

void launchSums(const GemmProblem &p, cudaStream_t stream) {
  if (p.dtypeAB == TSR_DTYPE_F64)
    return launchSums<double, double>(p, stream);
  if (p.dtypeAB == TSR_DTYPE_F32)
    return launchSums<float, float>(p, stream);
  if (p.dtypeC == TSR_DTYPE_F32)
    return launchSums<Bf16, float>(p, stream);
  return launchSums<Bf16, Bf16>(p, stream);
}
} // namespace

cudaError_t startFromBias(const GemmProblem &problem, cudaStream_t stream) {
  GemmProblem p = problem;
  if (p.strideC == 0)
    p.batch =
        1; // one C for all: without a bias it stays, with one it is added once
  if (p.dtypeC == TSR_DTYPE_F64)
    launchStart<double>(p, stream);
  else if (p.dtypeC == TSR_DTYPE_BF16)
    launchStart<Bf16>(p, stream);
  else
    launchStart<float>(p, stream);
  return cudaGetLastError();
}

cudaError_t followProduct(const GemmProblem &p, cudaStream_t stream) {
  if (p.sumsOf) {
    if (termsOf(p).count > 0)
      launchSums(p, stream);
  } else if (p.epilogue && p.m * p.n > 0) {
    if (p.dtypeC == TSR_DTYPE_F64)
      launchGelu<double>(p, stream);
    else if (p.dtypeC == TSR_DTYPE_BF16)
      launchGelu<Bf16>(p, stream);
    else
      launchGelu<float>(p, stream);
  }
  return cudaGetLastError();
}

} // namespace tessera::cuda
