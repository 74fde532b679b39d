#include "runtime/cuda/products/ColumnProduct.h"

#include "tessera/abi.h"

namespace tessera::cuda {

ColumnProduct columnProduct(const GemmProblem &p) {
  ColumnProduct result;
  result.m = p.n;
  result.n = p.m;
  result.k = p.k;
  result.batch = p.batch;
  result.first = {p.transB ? p.k : p.n,
                  p.transB ? p.n : p.k,
                  p.ldb,
                  p.strideB,
                  p.transB,
                  p.b};
  result.second = {p.transA ? p.m : p.k,
                   p.transA ? p.k : p.m,
                   p.lda,
                   p.strideA,
                   p.transA,
                   p.a};
  result.c = {p.n, p.m, p.ldc, p.strideC, false, p.c};
  result.accumulate = p.accumulate;
  result.bias = p.bias;
  result.epilogue = p.epilogue;
  result.aux = {p.n, p.m, p.ldaux, 0, false, p.aux};
  result.sums = p.sums;
  result.sumsOfFirst = p.sumsOf == TSR_GEMM_SUMS_B;
  return result;
}

} // namespace tessera::cuda
