//===- ColumnProductTest.cpp - gemm in column-major terms, without a GPU --===//
// A naive product that reads its operands by the definition of column-major
// libraries must give the row-major result of abi.h.
#include "runtime/cuda/products/ColumnProduct.h"
#include "runtime/cuda/step/StepScalars.h"
#include "tessera/abi.h"

#include <gtest/gtest.h>
#include <vector>

using namespace tessera;
using namespace tessera::cuda;

namespace {

/// op(matrix)[row, column] of batch entry `i`.
float element(const ColumnMatrix &matrix, int64_t i, int64_t row,
              int64_t column) {
  if (matrix.transposed)
    std::swap(row, column);
  EXPECT_LT(row, matrix.rows);
  EXPECT_LT(column, matrix.columns);
  EXPECT_GE(matrix.ld, matrix.rows);
  return static_cast<const float *>(
      matrix.data)[i * matrix.stride + row + column * matrix.ld];
}

void multiply(const ColumnProduct &p, float *c) {
  for (int64_t i = 0; i < p.batch; ++i)
    for (int64_t n = 0; n < p.n; ++n)
      for (int64_t m = 0; m < p.m; ++m) {
        float &out = c[i * p.c.stride + m + n * p.c.ld];
        float sum = p.accumulate ? out : 0;
        if (p.bias)
          sum += static_cast<const float *>(p.bias)[m];
        for (int64_t k = 0; k < p.k; ++k)
          sum += element(p.first, i, m, k) * element(p.second, i, k, n);
        out = sum;
      }
}

/// Computes C by abi.h's definition.
void expected(const GemmProblem &p, float *c) {
  auto *a = static_cast<const float *>(p.a);
  auto *b = static_cast<const float *>(p.b);
  auto *bias = static_cast<const float *>(p.bias);
  for (int64_t i = 0; i < p.batch; ++i)
    for (int64_t m = 0; m < p.m; ++m)
      for (int64_t n = 0; n < p.n; ++n) {
        float &out = c[i * p.strideC + m * p.ldc + n];
        float sum = p.accumulate ? out : 0;
        sum += bias ? bias[n] : 0;
        for (int64_t k = 0; k < p.k; ++k)
          sum += a[i * p.strideA + (p.transA ? k * p.lda + m : m * p.lda + k)] *
                 b[i * p.strideB + (p.transB ? n * p.ldb + k : k * p.ldb + n)];
        out = sum;
      }
}

std::vector<float> integers(int64_t count, int64_t seed) {
  std::vector<float> values(count);
  for (int64_t i = 0; i < count; ++i)
    values[i] = static_cast<float>((i * 7 + seed * 5) % 9 - 4);
  return values;
}

TEST(ColumnProduct, IsTheRowMajorProduct) {
  const int64_t m = 5, n = 7, k = 3, batch = 2;
  for (int flags = 0; flags < 32; ++flags) {
    bool transA = flags & 1, transB = flags & 2;
    int64_t pad = flags & 16 ? 2 : 0;
    GemmProblem p{};
    p.m = m, p.n = n, p.k = k, p.batch = batch;
    p.transA = transA, p.transB = transB, p.accumulate = flags & 4;
    p.lda = (transA ? m : k) + pad;
    p.ldb = (transB ? k : n) + pad;
    p.ldc = n + pad;
    p.strideA = (transA ? k : m) * p.lda;
    p.strideB = (transB ? n : k) * p.ldb;
    p.strideC = m * p.ldc;
    std::vector<float> a = integers(p.strideA * batch, 1),
                       b = integers(p.strideB * batch, 2),
                       bias = integers(n, 3),
                       c = integers(p.strideC * batch, 4), wanted = c;
    p.a = a.data(), p.b = b.data(), p.c = c.data();
    p.bias = flags & 8 ? bias.data() : nullptr;
    multiply(columnProduct(p), c.data());
    expected(p, wanted.data());
    ASSERT_EQ(c, wanted) << "flags " << flags;
  }
}

/// The swapped operands are described in the terms of the row-major product.
TEST(ColumnProduct, SumsAndAuxAreThoseOfTheRowMajorProduct) {
  const int64_t m = 5, n = 7, k = 3;
  std::vector<float> a = integers(m * k, 1), b = integers(k * n, 2);
  float aux = 0, sums = 0;
  for (bool transA : {false, true})
    for (int64_t of : {TSR_GEMM_SUMS_A, TSR_GEMM_SUMS_B}) {
      GemmProblem p{};
      p.m = m, p.n = n, p.k = k, p.batch = 1;
      p.transA = transA, p.lda = transA ? m : k, p.ldb = n, p.ldc = n;
      p.a = a.data(), p.b = b.data(), p.ldaux = 9, p.aux = &aux;
      p.sums = &sums, p.sumsOf = of;
      ColumnProduct product = columnProduct(p);
      EXPECT_EQ(product.sumsOfFirst, of == TSR_GEMM_SUMS_B);
      EXPECT_EQ(product.aux.ld, 9);
      EXPECT_EQ(product.aux.rows, n); // a column is a row of C
      EXPECT_EQ(product.aux.columns, m);
      GemmTerms terms = termsOf(p);
      const ColumnMatrix &summed =
          product.sumsOfFirst ? product.first : product.second;
      ASSERT_EQ(terms.count, product.sumsOfFirst ? product.m : product.n);
      for (int64_t i = 0; i < terms.count; ++i)
        for (int64_t t = 0; t < k; ++t)
          EXPECT_EQ(static_cast<const float *>(
                        terms.data)[i * terms.step + t * terms.termStep],
                    product.sumsOfFirst ? element(summed, 0, i, t)
                                        : element(summed, 0, t, i));
    }
}

TEST(StepScalars, SecondWalkFindsTheWordsOfTheFirst) {
  StepScalars table;
  const int64_t first[] = {1, 2, 3}, second[] = {4};
  table.put(first, 3);
  table.put(nullptr, 0);
  table.put(second, 1);
  std::vector<int64_t> copy = table.values();
  table.begin(copy.data());
  ASSERT_TRUE(table.has(3));
  EXPECT_EQ(table.take(3)[2], 3);
  EXPECT_TRUE(table.has(0));
  table.take(0);
  ASSERT_TRUE(table.has(1));
  EXPECT_EQ(*table.take(1), 4);
  EXPECT_FALSE(table.has(1));
  table.clear();
  table.begin(nullptr);
  EXPECT_TRUE(table.has(0));
  EXPECT_FALSE(table.has(1));
}

TEST(CallDigest, DependsOnWordsAndTheirOrder) {
  CallDigest a, b, c;
  a.add(int64_t(1)), a.add(int64_t(2));
  b.add(int64_t(2)), b.add(int64_t(1));
  c.add(int64_t(1)), c.add(int64_t(2));
  EXPECT_NE(a.value(), b.value());
  EXPECT_EQ(a.value(), c.value());
}

} // namespace
