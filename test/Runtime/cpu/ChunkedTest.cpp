//===- ChunkedTest.cpp - Sums as trees of chunks --------------------------===//
// Whoever computes: the bits are those of the tree, which is built here from
// products of single chunks.
//===----------------------------------------------------------------------===//

#include "runtime/cpu/CpuEntries.h"
#include "test/Runtime/cpu/TestBuffer.h"

#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::test;

namespace {
struct Product {
  int64_t m, n, k, chunks;
  int64_t outer = 1;
  bool transA = false, transB = false;
};

/// A and B of the whole product; rows of op(A), columns of op(B), chunks of k.
struct Part {
  int64_t row = 0, rows, column = 0, columns, chunk = 0, chunks;
};

class Chunked {
public:
  explicit Chunked(const Product &p) : p(p) {
    a = Buffer(TSR_DTYPE_F32, p.m * p.k);
    b = Buffer(TSR_DTYPE_F32, p.k * p.n);
    a.fillNormal(1);
    b.fillNormal(2);
  }
  Part whole() const { return {0, p.m, 0, p.n, 0, p.chunks}; }

  /// Computes the result of a rank that has a part of the operands.
  Buffer run(const Part &part, int threads, Buffer *bias = nullptr,
             Buffer *start = nullptr) {
    const int64_t k = p.k / p.chunks * part.chunks;
    Buffer x = cut(a, p.transA, part.row, part.rows, p.m, part);
    Buffer y = cut(b, !p.transB, part.column, part.columns, p.n, part);
    Buffer c = start ? *start : Buffer(TSR_DTYPE_F32, part.rows * part.columns);
    int64_t args[TSR_CHUNKED_GEMM_ARGS] = {part.rows, part.columns, k};
    args[TSR_GEMM_LDA] = p.transA ? part.rows : k;
    args[TSR_GEMM_LDB] = p.transB ? k : part.columns;
    args[TSR_GEMM_LDC] = part.columns;
    args[TSR_GEMM_TRANS_A] = p.transA;
    args[TSR_GEMM_TRANS_B] = p.transB;
    args[TSR_GEMM_ACCUMULATE] = start != nullptr;
    args[TSR_GEMM_BATCH] = 1;
    args[TSR_CHUNKED_GEMM_CHUNKS] = part.chunks;
    args[TSR_CHUNKED_GEMM_OUTER] = p.outer;
    void *buffers[] = {x.data(), y.data(), c.data(),
                       bias ? bias->data() : nullptr};
    std::string error;
    EXPECT_EQ(cpuChunkedGemm(threads, buffers, args, &error), 0) << error;
    return c;
  }

private:
  /// Cuts the part out of a matrix [k, size] (kFirst) or [size, k].
  Buffer cut(const Buffer &from, bool kFirst, int64_t start, int64_t count,
             int64_t size, const Part &part) const {
    const int64_t rest = p.k / (p.chunks * p.outer);
    const int64_t k = p.outer * part.chunks * rest;
    Buffer to(TSR_DTYPE_F32, k * count);
    for (int64_t o = 0, at = 0; o < p.outer; ++o)
      for (int64_t c = part.chunk; c < part.chunk + part.chunks; ++c)
        for (int64_t r = 0; r < rest; ++r, ++at) {
          const int64_t whole = (o * p.chunks + c) * rest + r;
          for (int64_t i = 0; i < count; ++i)
            to.set(kFirst ? at * count + i : i * k + at,
                   from.get(kFirst ? whole * size + start + i
                                   : (start + i) * p.k + whole));
        }
    return to;
  }

  const Product p;
  Buffer a, b;
};

Buffer plus(const Buffer &x, const Buffer &y) {
  Buffer sum = x;
  for (int64_t i = 0; i < sum.size(); ++i)
    sum.set(i, float(x.get(i)) + float(y.get(i)));
  return sum;
}

const Product kProducts[] = {{5, 7, 64, 8},
                             {100, 300, 1024, 8},
                             {100, 300, 96, 4, 3},
                             {33, 70, 80, 8, 1, true, false},
                             {33, 70, 80, 8, 2, true, true},
                             {200, 17, 4000, 2, 1, false, true},
                             {1, 1, 24, 8, 1, false, true}};
} // namespace

TEST(ChunkedGemm, RanksThatShareChunksGetTheBitsOfOne) {
  for (const Product &p : kProducts) {
    Chunked product(p);
    Part half = product.whole();
    half.chunks = p.chunks / 2;
    const Buffer left = product.run(half, 1);
    half.chunk = half.chunks;
    const Buffer right = product.run(half, 3);
    EXPECT_TRUE(plus(left, right) == product.run(product.whole(), 2)) << p.k;
  }
}

TEST(ChunkedGemm, RowsAndColumnsDoNotChangeABit) {
  for (const Product &p : kProducts) {
    Chunked product(p);
    const Buffer whole = product.run(product.whole(), 2);
    Part part = product.whole();
    part.row = p.m / 3;
    part.rows = (p.m + 1) / 2;
    part.column = p.n / 2;
    part.columns = p.n - part.column;
    const Buffer corner = product.run(part, 1);
    for (int64_t i = 0; i < corner.size(); ++i)
      ASSERT_EQ(corner.get(i), whole.get((part.row + i / part.columns) * p.n +
                                         part.column + i % part.columns));
  }
}

/// The sum is whole before anything is added to it.
TEST(ChunkedGemm, AddsBiasThenWhatIsThere) {
  const Product p{3, 20, 64, 8};
  Chunked product(p);
  Buffer sum = product.run(product.whole(), 1), bias(TSR_DTYPE_F32, p.n);
  Buffer rows(TSR_DTYPE_F32, p.m * p.n), start(TSR_DTYPE_F32, p.m * p.n);
  bias.fillNormal(5);
  start.fillNormal(6);
  for (int64_t i = 0; i < rows.size(); ++i)
    rows.set(i, bias.get(i % p.n));
  EXPECT_TRUE(product.run(product.whole(), 1, &bias) == plus(sum, rows));
  EXPECT_TRUE(product.run(product.whole(), 1, &bias, &start) ==
              plus(start, plus(sum, rows)));
}

TEST(ChunkedGemm, RefusesUnequalChunks) {
  int64_t args[TSR_CHUNKED_GEMM_ARGS] = {1, 1, 12, 12, 1, 1};
  args[TSR_GEMM_BATCH] = args[TSR_CHUNKED_GEMM_OUTER] = 1;
  void *buffers[4] = {};
  std::string error;
  for (int64_t chunks : {0, 3, 8}) {
    args[TSR_CHUNKED_GEMM_CHUNKS] = chunks;
    EXPECT_NE(cpuChunkedGemm(1, buffers, args, &error), 0);
    EXPECT_NE(error.find("cannot cut 12 into " + std::to_string(chunks)),
              std::string::npos)
        << error;
  }
}

namespace {
Buffer scatter(Buffer &source, std::vector<int32_t> ids, int64_t chunks,
               int64_t columns, int threads) {
  constexpr int64_t kTableRows = 6;
  Buffer table(TSR_DTYPE_F32, kTableRows * columns);
  table.fill(0);
  void *buffers[] = {source.data(), ids.data(), table.data()};
  const int64_t args[] = {int64_t(ids.size()), columns,       0,     kTableRows,
                          TSR_DTYPE_F32,       TSR_DTYPE_F32, chunks};
  std::string error;
  EXPECT_EQ(cpuChunkedScatterAdd(threads, buffers, args, &error), 0) << error;
  return table;
}

/// Returns the rows [first, first + ids.size()) of a matrix.
Buffer rowsOf(const Buffer &matrix, size_t first, size_t count,
              int64_t columns) {
  Buffer rows(TSR_DTYPE_F32, int64_t(count) * columns);
  for (int64_t i = 0; i < rows.size(); ++i)
    rows.set(i, matrix.get(int64_t(first) * columns + i));
  return rows;
}
} // namespace

/// Some rows of the table are in few chunks, or in none.
TEST(ChunkedScatterAdd, RanksThatShareChunksGetTheBitsOfOne) {
  for (int64_t columns : {1, 40}) {
    std::vector<int32_t> ids;
    for (int r = 0; r < 64; ++r)
      ids.push_back(r * r % 11); // rows above 5 are not in the table
    Buffer source(TSR_DTYPE_F32, 64 * columns);
    source.fillNormal(4);
    const Buffer whole = scatter(source, ids, 8, columns, 3);
    std::vector<Buffer> quarters;
    for (size_t q = 0; q < 4; ++q) {
      Buffer rows = rowsOf(source, 16 * q, 16, columns);
      quarters.push_back(
          scatter(rows, {ids.begin() + 16 * q, ids.begin() + 16 * (q + 1)}, 2,
                  columns, 1));
    }
    EXPECT_TRUE(plus(plus(quarters[0], quarters[1]),
                     plus(quarters[2], quarters[3])) == whole);
  }
}

TEST(ChunkedScatterAdd, RefusesUnequalChunks) {
  const int64_t args[] = {12, 1, 0, 1, TSR_DTYPE_F32, TSR_DTYPE_F32, 8};
  void *buffers[3] = {};
  std::string error;
  EXPECT_NE(cpuChunkedScatterAdd(1, buffers, args, &error), 0);
  EXPECT_EQ(error, "chunked_scatter_add: cannot cut 12 into 8 equal chunks; "
                   "their number is a power of 2 that divides it");
}
