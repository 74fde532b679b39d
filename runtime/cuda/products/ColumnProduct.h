//===- ColumnProduct.h - gemm as column-major libraries see it --*- C++ -*-===//
// Row-major C = op(A) op(B) is column-major C^T = op(B)^T op(A)^T, and a
// row-major matrix read by columns is its transpose: so swapping the operands
// is all, nothing is moved. Needs no CUDA, and is tested without.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_PRODUCTS_COLUMNPRODUCT_H
#define TESSERA_RUNTIME_CUDA_PRODUCTS_COLUMNPRODUCT_H

#include "runtime/cpu/GemmProblem.h"

namespace tessera::cuda {

/// A column-major matrix as it is stored: element (r, c) at r + c * ld.
struct ColumnMatrix {
  int64_t rows, columns, ld, stride;
  bool transposed; ///< the product uses its transpose
  const void *data;
};

/// C[m, n] = op(first)[m, k] op(second)[k, n] (+ C) (+ bias[m] in each column).
/// With an epilogue (TSR_GEMM_EPILOGUE_*) `aux` is what it saves or reads; sums
/// over k are those of op(first), [m], or of op(second), [n].
struct ColumnProduct {
  int64_t m, n, k, batch;
  ColumnMatrix first, second;
  ColumnMatrix c; ///< its data is written
  bool accumulate;
  const void *bias; ///< may be null
  int64_t epilogue;
  ColumnMatrix aux;
  void *sums; ///< null: none
  bool sumsOfFirst;
};

ColumnProduct columnProduct(const GemmProblem &problem);

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_PRODUCTS_COLUMNPRODUCT_H
