//===- ProductKernels.cu - before and after a product ---------------------===//

#include "runtime/cuda/products/MatrixProducts.h"
#include "runtime/cuda/products/ProductElements.h"
#include "tessera/abi.h"

#include <algorithm>

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

template <class T, int N>
__global__ void widenKernel(Integers integers, int64_t count, T *to) {
  int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += step)
    widenIntegersOf<T, N>(integers, to, i);
}

/// One slice of the terms of each sum: every gridDim.y-th group of sumRows of
/// them. They are shared out to rows of threads, whose sums are added in order.
template <class In, class Wide>
__global__ void slicesKernel(GemmTerms terms, Wide *slices) {
  __shared__ Wide parts[sumRows][sumColumns];
  int64_t i = int64_t(blockIdx.x) * sumColumns + threadIdx.x;
  int64_t first = int64_t(blockIdx.y) * sumRows + threadIdx.y;
  int64_t stride = int64_t(gridDim.y) * sumRows;
  parts[threadIdx.y][threadIdx.x] =
      i < terms.count ? sumTerms<In>(terms, i, first, stride) : Wide(0);
  __syncthreads();
  if (threadIdx.y != 0 || i >= terms.count)
    return;
  Wide sum = 0;
  for (int row = 0; row < sumRows; ++row)
    sum += parts[row][threadIdx.x];
  slices[blockIdx.y * terms.count + i] = sum;
}

/// Slices are added in order.
template <class Wide, class Out>
__global__ void sumsKernel(const Wide *slices, int64_t count, int sliceCount,
                           Out *sums) {
  int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  Wide sum = 0;
  for (int slice = 0; slice < sliceCount; ++slice)
    sum += slices[slice * count + i];
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

template <class T>
void launchWiden(const Integers &integers, void *to, cudaStream_t stream) {
  const int64_t count = integers.rows * integers.columns;
  auto *floats = static_cast<T *>(to);
  if (integers.inPieces())
    widenKernel<T, 4><<<blocksFor(count / 4), threads, 0, stream>>>(
        integers, count / 4, floats);
  else
    widenKernel<T, 1>
        <<<blocksFor(count), threads, 0, stream>>>(integers, count, floats);
}

/// Returns the number of slices that have enough terms each and fit the
/// workspace.
int64_t slicesOf(const GemmTerms &terms, int64_t wideBytes) {
  constexpr int64_t most = 64, leastTerms = 16 * sumRows;
  int64_t room = productWorkspaceBytes / (terms.count * wideBytes);
  return std::max<int64_t>(1, std::min({most, terms.terms / leastTerms, room}));
}

template <class In, class Out>
void launchSums(const GemmProblem &p, void *workspace, cudaStream_t stream) {
  using Wide = decltype(widen(In()));
  GemmTerms terms = termsOf(p);
  auto blocks =
      static_cast<unsigned>((terms.count + sumColumns - 1) / sumColumns);
  auto count = static_cast<unsigned>(slicesOf(terms, sizeof(Wide)));
  auto *slices = static_cast<Wide *>(workspace);
  slicesKernel<In>
      <<<dim3(blocks, count), dim3(sumColumns, sumRows), 0, stream>>>(terms,
                                                                      slices);
  sumsKernel<<<unsigned((terms.count + threads - 1) / threads), threads, 0,
               stream>>>(slices, terms.count, int(count),
                         static_cast<Out *>(p.sums));
}

void launchSums(const GemmProblem &p, void *workspace, cudaStream_t stream) {
  if (p.dtypeAB == TSR_DTYPE_F64)
    return launchSums<double, double>(p, workspace, stream);
  if (p.dtypeAB == TSR_DTYPE_F32)
    return launchSums<float, float>(p, workspace, stream);
  if (p.dtypeC == TSR_DTYPE_F32)
    return launchSums<Bf16, float>(p, workspace, stream);
  return launchSums<Bf16, Bf16>(p, workspace, stream);
}
} // namespace

cudaError_t startFromBias(const GemmProblem &problem, cudaStream_t stream) {
  GemmProblem p = problem;
  if (p.strideC == 0)
    p.batch = 1; // one C for all: a bias is added once
  if (p.dtypeC == TSR_DTYPE_F64)
    launchStart<double>(p, stream);
  else if (p.dtypeC == TSR_DTYPE_BF16)
    launchStart<Bf16>(p, stream);
  else
    launchStart<float>(p, stream);
  return cudaGetLastError();
}

cudaError_t widenIntegers(const Integers &integers, int64_t dtype, void *to,
                          cudaStream_t stream) {
  if (integers.rows * integers.columns == 0)
    return cudaSuccess;
  if (dtype == TSR_DTYPE_BF16)
    launchWiden<Bf16>(integers, to, stream);
  else
    launchWiden<float>(integers, to, stream);
  return cudaGetLastError();
}

cudaError_t followProduct(const GemmProblem &p, void *workspace,
                          cudaStream_t stream) {
  if (p.sumsOf) {
    if (termsOf(p).count > productWorkspaceBytes / int64_t(sizeof(double)))
      return cudaErrorInvalidValue;
    if (termsOf(p).count > 0)
      launchSums(p, workspace, stream);
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
