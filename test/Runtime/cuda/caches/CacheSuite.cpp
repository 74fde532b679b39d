//===- CacheSuite.cpp - What every backend of caches must do --------------===//

#include "test/Runtime/cuda/caches/CacheSuite.h"
#include "runtime/cpu/CpuEntries.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace tessera;
using namespace tessera::test;

namespace {

/// Some distances have a bucket each, some are farther than this.
constexpr int64_t kMaxDistance = 19;

struct Row {
  int32_t slot, position;
};

Buffer integers(const std::vector<int32_t> &values) {
  Buffer buffer(TSR_DTYPE_I32, int64_t(values.size()));
  std::copy(values.begin(), values.end(),
            static_cast<int32_t *>(buffer.data()));
  return buffer;
}

Buffer widened(const Buffer &from) {
  Buffer to(TSR_DTYPE_F64, from.size());
  for (int64_t i = 0; i < from.size(); ++i)
    to.set(i, from.get(i));
  return to;
}

/// One rank's part of all slots, and some rows that attend to it.
class Problem {
public:
  Problem(const CacheShape &s, int64_t dtype, int64_t ordinal = 0)
      : s(s), dtype(dtype), ordinal(ordinal), keys(dtype, cacheSize()),
        values(dtype, cacheSize()) {
    for (int64_t lane = 0; lane < s.lanes; ++lane) {
      for (int64_t slot = 0; slot < s.slots; ++slot)
        addSlot(lane, slot);
      rows.push_back({-1, 0});
    }
    perLane = int64_t(rows.size()) / s.lanes;
    q = Buffer(dtype, int64_t(rows.size()) * stride());
    std::mt19937 random(11);
    for (int64_t i = 0; i < q.size(); ++i)
      if (i % stride() < s.heads * s.headDim)
        q.set(i, normal(random));
  }

  int64_t width() const { return s.kvHeads * s.headDim; }
  int64_t stride() const { return s.heads * s.headDim + 3; }
  /// Returns the elements of a row's result.
  int64_t columns(bool weighted) const {
    return s.heads * (s.headDim + weighted);
  }

  std::vector<int64_t> args(bool weighted, int64_t type) const {
    std::vector<int64_t> a(TSR_CACHED_ATTENTION_ARGS);
    a[TSR_CACHED_ATTENTION_LANES] = s.lanes;
    a[TSR_CACHED_ATTENTION_ROWS] = perLane;
    a[TSR_CACHED_ATTENTION_SLOTS] = s.slots;
    a[TSR_CACHED_ATTENTION_PLACES] = s.places;
    a[TSR_CACHED_ATTENTION_HEADS] = s.heads;
    a[TSR_CACHED_ATTENTION_KV_HEADS] = s.kvHeads;
    a[TSR_CACHED_ATTENTION_HEAD_DIM] = s.headDim;
    a[TSR_CACHED_ATTENTION_ROW] = stride();
    a[TSR_CACHED_ATTENTION_WINDOW] = s.window;
    const double scale = 1 / std::sqrt(double(s.headDim));
    std::memcpy(&a[TSR_CACHED_ATTENTION_SCALE_BITS], &scale, sizeof scale);
    a[TSR_CACHED_ATTENTION_DTYPE] = type;
    a[TSR_CACHED_ATTENTION_DEAL] = s.deal;
    a[TSR_CACHED_ATTENTION_START] = ordinal * s.places;
    a[TSR_CACHED_ATTENTION_WEIGHTED] = weighted;
    a[TSR_CACHED_ATTENTION_BUCKETS] = s.buckets;
    a[TSR_CACHED_ATTENTION_MAX_DISTANCE] = s.buckets ? kMaxDistance : 0;
    return a;
  }

  std::vector<Buffer> buffers(bool weighted) const {
    std::vector<int32_t> slots, positions;
    for (const Row &row : rows) {
      slots.push_back(row.slot);
      positions.push_back(row.position);
    }
    const int64_t type = weighted ? int64_t(TSR_DTYPE_F32) : dtype;
    Buffer biases(TSR_DTYPE_F32, s.buckets * s.heads);
    biases.fillNormal(3);
    return {q,
            keys,
            values,
            integers(slots),
            integers(positions),
            Buffer(type, int64_t(rows.size()) * columns(weighted)),
            biases};
  }

  Buffer attend(const CacheBackend &backend, bool weighted) const {
    std::vector<Buffer> all = buffers(weighted);
    backend(TSR_ENTRY_CACHED_ATTENTION, args(weighted, dtype), all, 5);
    return all[5];
  }

  /// Computes the wanted result on the CPU, in f64.
  Buffer wanted(bool weighted) const {
    std::vector<Buffer> all = buffers(weighted);
    for (size_t i : {0, 1, 2, 5, 6})
      all[i] = widened(all[i]);
    std::vector<void *> at;
    for (Buffer &buffer : all)
      at.push_back(buffer.data());
    std::string error;
    EXPECT_EQ(cpuCachedAttention(2, at.data(),
                                 args(weighted, TSR_DTYPE_F64).data(), &error),
              0)
        << error;
    return all[5];
  }

  CacheShape s;
  int64_t dtype, ordinal, perLane = 0;
  Buffer keys, values, q;
  std::vector<Row> rows;

private:
  int64_t cacheSize() const { return s.lanes * s.slots * s.places * width(); }

  /// Adds a full slot first, then one of a position, then halves; the last one
  /// of several is empty.
  void addSlot(int64_t lane, int64_t slot) {
    const int64_t all = s.places * s.deal;
    int64_t count = slot == 0 ? all : slot == 1 ? 1 : (all + 1) / 2;
    if (s.slots > 1 && slot == s.slots - 1)
      return;
    if (s.window != 0)
      count += 9;
    for (int64_t position = 0; position < count; ++position)
      fill(lane, slot, position);
    const auto at = static_cast<int32_t>(slot);
    rows.push_back({at, int32_t(count - 1)});
    // With a window, earlier positions are overwritten.
    if (s.window == 0)
      rows.push_back({at, 0});
    if (count > 1)
      rows.push_back({at, int32_t(count - 2)});
  }

  void fill(int64_t lane, int64_t slot, int64_t position) {
    if (position % s.deal != ordinal)
      return;
    std::mt19937 random(uint32_t((lane * 97 + slot) * 8191 + position));
    const int64_t place = position / s.deal % s.places;
    const int64_t at = ((lane * s.slots + slot) * s.places + place) * width();
    for (int64_t i = 0; i < width(); ++i) {
      keys.set(at + i, normal(random));
      values.set(at + i, normal(random));
    }
  }

  std::normal_distribution<double> normal;
};

/// f32 as the CPU's own test has it; results in bf16, of 8 bits, are rounded
/// once.
void expectNear(const Buffer &found, const Buffer &wanted, bool rounds) {
  ASSERT_EQ(found.size(), wanted.size());
  for (int64_t i = 0; i < found.size(); ++i) {
    const double want = wanted.get(i), got = found.get(i);
    const double bound = 1e-5 + (rounds ? 0x1.01p-8 * std::fabs(want) : 0);
    if (want != got) { // also where both are -inf
      ASSERT_LE(std::fabs(got - want), bound) << "element " << i;
    }
  }
}

/// Expects that the merged parts of all ranks are the wanted result.
void expectMerged(const CacheBackend &backend, const std::vector<Buffer> &parts,
                  const Problem &one, const Buffer &wanted) {
  const auto ranks = static_cast<int64_t>(parts.size());
  Buffer all(TSR_DTYPE_F32, ranks * parts[0].size());
  for (int64_t k = 0; k < ranks; ++k)
    for (int64_t i = 0; i < parts[0].size(); ++i)
      all.set(k * parts[0].size() + i, parts[size_t(k)].get(i));
  const int64_t rows = int64_t(one.rows.size()) * one.s.heads;
  std::vector<Buffer> buffers = {all, Buffer(one.dtype, rows * one.s.headDim)};
  backend(TSR_ENTRY_MERGE_MEANS,
          {ranks, rows, one.s.headDim, 0, TSR_DTYPE_F32, one.dtype}, buffers,
          1);
  expectNear(buffers[1], wanted, one.dtype == TSR_DTYPE_BF16);
}

} // namespace

std::string CacheShape::name() const {
  std::string text;
  for (int64_t size :
       {lanes, slots, places, heads, kvHeads, headDim, window, deal, buckets})
    text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

const std::vector<CacheShape> &tessera::test::cacheShapes() {
  static const std::vector<CacheShape> shapes = {
      {1, 2, 20, 1, 1, 8, 0},        {2, 3, 140, 4, 2, 5, 0},
      {1, 3, 200, 6, 2, 64, 0},      {1, 4, 70, 4, 4, 24, 7},
      {2, 2, 16, 3, 1, 16, 5},       {1, 1, 1, 2, 1, 3, 0},
      {1, 2, 64, 9, 1, 80, 0},       {1, 2, 65, 16, 2, 128, 0},
      {1, 2, 30, 7, 1, 33, 0},       {1, 2, 40, 5, 1, 131, 0},
      {1, 2, 70, 8, 8, 256, 0},      {1, 3, 700, 4, 2, 16, 0},
      {1, 3, 700, 2, 2, 20, 300},    {1, 2, 5000, 2, 1, 8, 0},
      {2, 3, 60, 4, 2, 24, 0, 3},    {1, 3, 12, 3, 1, 6, 5, 2},
      {1, 3, 300, 2, 2, 16, 0, 2},   {2, 3, 90, 3, 3, 6, 0, 1, 8},
      {1, 2, 40, 2, 2, 70, 9, 1, 5}, {1, 2, 20, 2, 2, 8, 0, 3, 6},
      {1, 2, 600, 2, 2, 8, 0, 1, 8}, {1, 2, 30, 18, 2, 12, 0}};
  return shapes;
}

void tessera::test::expectAttentionOfCpu(const CacheBackend &backend,
                                         const CacheShape &shape,
                                         int64_t dtype) {
  SCOPED_TRACE(shape.name());
  const bool rounds = dtype == TSR_DTYPE_BF16;
  if (shape.deal == 1) {
    const Problem problem(shape, dtype);
    for (bool weighted : {false, true})
      expectNear(problem.attend(backend, weighted), problem.wanted(weighted),
                 rounds && !weighted);
    return;
  }
  std::vector<Buffer> parts;
  for (int64_t rank = 0; rank < shape.deal; ++rank) {
    const Problem problem(shape, dtype, rank);
    parts.push_back(problem.attend(backend, true));
    expectNear(parts.back(), problem.wanted(true), false);
  }
  CacheShape whole = shape;
  whole.places *= whole.deal;
  whole.deal = 1;
  const Problem one(whole, dtype);
  expectMerged(backend, parts, one, one.wanted(false));
}

void tessera::test::expectRowsAreAlone(const CacheBackend &backend,
                                       int64_t dtype) {
  for (const CacheShape &shape : {CacheShape{1, 4, 90, 6, 2, 20, 0},
                                  CacheShape{1, 3, 600, 2, 2, 16, 0}}) {
    Problem together(shape, dtype);
    const Buffer all = together.attend(backend, false);
    const int64_t columns = together.columns(false);
    for (size_t row = 0; row < together.rows.size(); ++row) {
      Problem alone = together;
      for (size_t other = 0; other < alone.rows.size(); ++other)
        if (other != row)
          alone.rows[other].slot = -1;
      const Buffer found = alone.attend(backend, false);
      for (int64_t i = 0; i < columns; ++i) {
        const int64_t at = int64_t(row) * columns + i;
        ASSERT_EQ(found.get(at), all.get(at)) << "row " << row;
      }
    }
  }
}

void tessera::test::expectNanStaysInItsRow(const CacheBackend &backend,
                                           int64_t dtype) {
  Problem problem({1, 3, 300, 4, 2, 16, 0}, dtype);
  problem.q.set(problem.stride() + 5, std::nan(""));
  const Buffer found = problem.attend(backend, false);
  for (int64_t i = 0; i < found.size(); ++i) {
    const int64_t row = i / problem.columns(false);
    const bool isIts = row == 1 && i % problem.columns(false) < 16;
    ASSERT_EQ(std::isnan(found.get(i)), isIts) << i;
  }
}

void tessera::test::expectAppendsOfCpu(const CacheBackend &backend,
                                       int64_t dtype) {
  for (auto [columns, gap, deal] : {std::array<int64_t, 3>{16, 0, 1},
                                    {16, 8, 1},
                                    {16, 3, 2},
                                    {5, 2, 1},
                                    {264, 0, 3},
                                    {1, 0, 1}}) {
    constexpr int64_t lanes = 2, rows = 5, slots = 3, places = 7;
    const std::vector<int32_t> slotOf = {0, 2, -1, 0, 1, 2, 2, 2, -1, 0};
    const std::vector<int32_t> positions = {0, 6, 0, 1, 13, 3, 4, 5, 0, 6};
    for (int64_t ordinal = 0; ordinal < deal; ++ordinal) {
      Buffer from(dtype, lanes * rows * (columns + gap));
      from.fillNormal(unsigned(columns));
      std::vector<Buffer> found = {
          Buffer(dtype, lanes * slots * places * columns), from,
          integers(slotOf), integers(positions)};
      std::vector<Buffer> wanted = found;
      const std::vector<int64_t> args = {lanes,  rows,    slots,
                                         places, columns, columns + gap,
                                         dtype,  deal,    ordinal * places};
      backend(TSR_ENTRY_APPEND, args, found, 0);
      void *at[] = {wanted[0].data(), wanted[1].data(), wanted[2].data(),
                    wanted[3].data()};
      std::string error;
      ASSERT_EQ(cpuAppend(1, at, args.data(), &error), 0) << error;
      EXPECT_TRUE(found[0] == wanted[0]) << columns << ", gap " << gap;
    }
  }
}

void tessera::test::expectMeansOfCpu(const CacheBackend &backend) {
  const double none = -std::numeric_limits<double>::infinity();
  for (int64_t ranks : {1, 2, 3, 5, 8, 9})
    for (int64_t columns : {1, 33, 128})
      for (bool weighted : {false, true}) {
        constexpr int64_t rows = 11;
        Buffer parts(TSR_DTYPE_F32, ranks * rows * (columns + 1));
        parts.fillNormal(unsigned(ranks * columns));
        // Row 0 is over nothing, and so are some parts of the others.
        for (int64_t k = 0; k < ranks; ++k)
          for (int64_t row = 0; row < rows; ++row)
            if (row == 0 || (row % 3 == 0 && k % 2 == 1)) {
              const int64_t at = (k * rows + row) * (columns + 1);
              parts.set(at + columns, none);
              for (int64_t i = 0; i < columns; ++i)
                parts.set(at + i, 0); // the CPU multiplies these by 0
            }
        std::vector<Buffer> found = {
            parts, Buffer(TSR_DTYPE_F32, rows * (columns + weighted))};
        std::vector<Buffer> wanted = found;
        const std::vector<int64_t> args = {
            ranks, rows, columns, weighted, TSR_DTYPE_F32, TSR_DTYPE_F32};
        backend(TSR_ENTRY_MERGE_MEANS, args, found, 1);
        void *at[] = {wanted[0].data(), wanted[1].data()};
        std::string error;
        ASSERT_EQ(cpuMergeMeans(1, at, args.data(), &error), 0) << error;
        expectNear(found[1], wanted[1], false);
      }
}
