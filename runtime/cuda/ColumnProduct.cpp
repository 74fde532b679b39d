#include "ColumnProduct.h"

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
  return result;
}

} // namespace tessera::cuda
