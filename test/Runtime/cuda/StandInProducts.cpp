//===- StandInProducts.cpp - the kernels beside products, on the host -----===//
// The kernels' own code, element by element, in stream order.

#include "runtime/cuda/products/MatrixProducts.h"
#include "runtime/cuda/products/ProductElements.h"
#include "tessera/abi.h"
#include "test/Runtime/cuda/StandInStream.h"

#include <cstdlib>

namespace tessera::cuda {

namespace {
template <class T> void startAll(const GemmProblem &p) {
  ProductStart start{
      p.m, p.n, p.ldc, p.strideC, p.strideC ? p.batch : 1, p.accumulate};
  for (int64_t i = 0; i < start.batch * p.m * p.n; ++i)
    startElement(start, static_cast<T *>(p.c), static_cast<const T *>(p.bias),
                 i);
}

template <class T> void geluAll(const GemmProblem &p) {
  GeluRows rows{p.n, p.ldc, p.ldaux, p.epilogue == TSR_GEMM_EPILOGUE_GELU_GRAD};
  for (int64_t i = 0; i < p.m * p.n; ++i)
    geluElement(rows, static_cast<T *>(p.c), static_cast<const T *>(p.aux), i);
}

template <class In, class Out> void sumAll(const GemmProblem &p) {
  GemmTerms terms = termsOf(p);
  for (int64_t i = 0; i < terms.count; ++i)
    static_cast<Out *>(p.sums)[i] =
        Narrow<Out>::from(sumTerms<In>(terms, i, 0, 1));
}

/// work<T>(p) for the type of C.
template <class Work> void withTypeOfC(const GemmProblem &p, Work work) {
  if (p.dtypeC == TSR_DTYPE_F64)
    return work(double());
  if (p.dtypeC == TSR_DTYPE_BF16)
    return work(Bf16());
  work(float());
}
} // namespace

cudaError_t startFromBias(const GemmProblem &p, cudaStream_t stream) {
  stream->push(
      [p] { withTypeOfC(p, [&](auto type) { startAll<decltype(type)>(p); }); });
  return cudaSuccess;
}

cudaError_t followProduct(const GemmProblem &p, void *, cudaStream_t stream) {
  stream->push([p] {
    if (p.epilogue)
      return withTypeOfC(p, [&](auto type) { geluAll<decltype(type)>(p); });
    if (!p.sumsOf)
      return;
    withTypeOfC(p, [&](auto type) {
      using Out = decltype(type);
      if (p.dtypeAB == p.dtypeC)
        sumAll<Out, Out>(p);
      else
        sumAll<Bf16, Out>(p);
    });
  });
  return cudaSuccess;
}

} // namespace tessera::cuda
