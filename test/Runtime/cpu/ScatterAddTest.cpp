//===- ScatterAddTest.cpp - The gradient of a lookup ----------------------===//

#include "runtime/cpu/CpuEntries.h"
#include "test/Runtime/cpu/TestBuffer.h"

#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::test;

namespace {
struct Scatter {
  int64_t rows, columns, start, valid, tableRows, source, table;
};
} // namespace

static std::vector<int32_t> idsOf(const Scatter &s) {
  std::vector<int32_t> ids;
  for (int64_t r = 0; r < s.rows; ++r) // some below, some above the shard
    ids.push_back(int32_t(r * 7 % (s.valid + 6) + s.start - 3));
  return ids;
}

static Buffer run(const Scatter &s, Buffer &source, int threads) {
  Buffer table(s.table, s.tableRows * s.columns);
  table.fillIntegers(77, 5);
  std::vector<int32_t> ids = idsOf(s);
  void *buffers[] = {source.data(), ids.data(), table.data()};
  const int64_t args[] = {s.rows,  s.columns, s.start,
                          s.valid, s.source,  s.table};
  std::string error;
  EXPECT_EQ(cpuScatterAdd(threads, buffers, args, &error), 0) << error;
  return table;
}

TEST(ScatterAdd, EqualsReference) {
  for (int64_t source : {TSR_DTYPE_F32, TSR_DTYPE_BF16, TSR_DTYPE_F64})
    for (int64_t table : {TSR_DTYPE_F32, TSR_DTYPE_F64})
      for (int64_t columns : {1, 15, 16, 33, 100}) {
        const Scatter s{50, columns, 20, 11, 13, source, table};
        Buffer x(source, s.rows * columns);
        x.fillIntegers(1, 9);
        const Buffer got = run(s, x, 2);
        Buffer want(table, s.tableRows * columns);
        want.fillIntegers(77, 5);
        const std::vector<int32_t> ids = idsOf(s);
        for (int64_t r = 0; r < s.rows; ++r) {
          const int64_t row = ids[size_t(r)] - s.start;
          for (int64_t c = 0; row >= 0 && row < s.valid && c < columns; ++c)
            want.set(row * columns + c,
                     want.get(row * columns + c) + x.get(r * columns + c));
        }
        EXPECT_TRUE(got == want) << source << " " << table << " " << columns;
      }
}

TEST(ScatterAdd, ThreadsDoNotChangeABit) {
  const Scatter s{500, 130, 0, 7, 7, TSR_DTYPE_F32, TSR_DTYPE_F32};
  Buffer x(s.source, s.rows * s.columns);
  x.fillNormal(3);
  const Buffer one = run(s, x, 1);
  for (int threads : {2, 3, 16})
    EXPECT_TRUE(run(s, x, threads) == one) << threads;
}

TEST(ScatterAdd, RefusesUnknownTypes) {
  const int64_t args[] = {1, 1, 0, 1, TSR_DTYPE_F32, TSR_DTYPE_BF16};
  void *buffers[3] = {};
  std::string error;
  EXPECT_NE(cpuScatterAdd(1, buffers, args, &error), 0);
  EXPECT_EQ(error, "scatter_add: dtypes 0 -> 1 are not supported; the source "
                   "is f32 (0), bf16 (1) or f64 (2), the table f32 or f64");
}
