//===- CachedAttentionTest.cpp - appends, and attention over caches -------===//
// Against a naive softmax in f64, with NaN wherever nothing may be read.

#include "runtime/cpu/Bf16.h"
#include "runtime/cpu/CpuEntries.h"
#include "runtime/cpu/CpuKernels.h"
#include "tessera/abi.h"
#include "tessera/tessera.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <vector>

using namespace tessera;

namespace {

struct Shape {
  int64_t lanes, slots, places, heads, kvHeads, headDim, window;
  int64_t buckets = 0; ///< Buckets of biases by distance.
};

/// Some distances have a bucket each, some are farther than this.
constexpr int64_t kMaxDistance = 19;

/// The number of ranks that share places, and this one's.
struct Share {
  int64_t ranks = 1, ordinal = 0;
};

/// Requests at some positions of their slots, and their last rows.
template <typename T> class Caches {
public:
  explicit Caches(const Shape &s, Share share = {}) : s(s), share(share) {
    const T nan = std::numeric_limits<T>::quiet_NaN();
    keys.assign(s.lanes * s.slots * s.places * width(), nan);
    values = keys;
    std::mt19937 own(3);
    for (int64_t k = 0; k < s.buckets * s.heads; ++k)
      biases.push_back(T(normal(own)));
  }

  int64_t width() const { return s.kvHeads * s.headDim; }

  /// Appends positions [0, count) of a slot, a few at a time.
  void fill(int32_t lane, int32_t slot, int32_t count) {
    for (int32_t first = 0; first < count; first += 3) {
      std::vector<int32_t> slots(s.lanes * 3, -1), positions(s.lanes * 3, 0);
      for (int32_t k = 0; k < 3 && first + k < count; ++k) {
        slots[lane * 3 + k] = slot;
        positions[lane * 3 + k] = first + k;
      }
      append(keys, slots, positions);
      append(values, slots, positions);
    }
  }

  /// Returns the result of a naive softmax for a row.
  std::vector<double> expected(const T *q, int64_t lane, int64_t slot,
                               int64_t position, double scale) const {
    const int64_t first =
        s.window ? std::max<int64_t>(0, position - s.window + 1) : 0;
    std::vector<double> out;
    for (int64_t head = 0; head < s.heads; ++head) {
      const int64_t kv = head / (s.heads / s.kvHeads);
      std::vector<double> sum(s.headDim, 0.0);
      double total = 0;
      for (int64_t p = first; p <= position; ++p) {
        const int64_t at =
            ((lane * s.slots + slot) * s.places + p % s.places) * width() +
            kv * s.headDim;
        double score = 0;
        for (int64_t d = 0; d < s.headDim; ++d)
          score += double(q[head * s.headDim + d]) * double(keys[at + d]);
        const double e = std::exp(score * scale + biasOf(position - p, head));
        total += e;
        for (int64_t d = 0; d < s.headDim; ++d)
          sum[d] += e * double(values[at + d]);
      }
      for (double x : sum)
        out.push_back(x / total);
    }
    return out;
  }

  /// The buckets are those of Raffel et al. 2020, all of them for keys before
  /// the query.
  double biasOf(int64_t distance, int64_t head) const {
    if (s.buckets == 0)
      return 0;
    const int64_t exact = s.buckets / 2;
    int64_t bucket = distance;
    if (distance >= exact)
      bucket = std::min(
          s.buckets - 1,
          exact + int64_t(std::log(float(distance) / float(exact)) /
                          float(std::log(double(kMaxDistance) / exact)) *
                          float(s.buckets - exact)));
    return double(biases[bucket * s.heads + head]);
  }

  /// Returns the results of all rows; 0 for those that nobody has.
  std::vector<double> expectedRows(const std::vector<T> &q,
                                   const std::vector<int32_t> &slots,
                                   const std::vector<int32_t> &positions,
                                   double scale) const {
    const auto rows = static_cast<int64_t>(slots.size()) / s.lanes;
    std::vector<double> all;
    for (size_t k = 0; k < slots.size(); ++k) {
      std::vector<double> row(s.heads * s.headDim, 0.0);
      if (slots[k] >= 0)
        row = expected(&q[k * row.size()], int64_t(k) / rows, slots[k],
                       positions[k], scale);
      all.insert(all.end(), row.begin(), row.end());
    }
    return all;
  }

  /// Computes attention; with `weighted`, each head has its weight behind it.
  std::vector<T> attend(const std::vector<T> &q,
                        const std::vector<int32_t> &slots,
                        const std::vector<int32_t> &positions, double scale,
                        int threads, bool weighted = false) const {
    const auto rows = static_cast<int64_t>(slots.size()) / s.lanes;
    std::vector<T> out(slots.size() * s.heads * (s.headDim + weighted),
                       std::numeric_limits<T>::quiet_NaN());
    int64_t args[TSR_CACHED_ATTENTION_ARGS] = {s.lanes,
                                               rows,
                                               s.slots,
                                               s.places,
                                               s.heads,
                                               s.kvHeads,
                                               s.headDim,
                                               s.heads * s.headDim,
                                               s.window,
                                               0,
                                               sizeof(T) == 8 ? TSR_DTYPE_F64
                                                              : TSR_DTYPE_F32,
                                               share.ranks,
                                               share.ordinal * s.places,
                                               weighted,
                                               s.buckets,
                                               s.buckets ? kMaxDistance : 0};
    std::memcpy(&args[TSR_CACHED_ATTENTION_SCALE_BITS], &scale, sizeof scale);
    void *buffers[] = {const_cast<T *>(q.data()),
                       const_cast<T *>(keys.data()),
                       const_cast<T *>(values.data()),
                       const_cast<int32_t *>(slots.data()),
                       const_cast<int32_t *>(positions.data()),
                       out.data(),
                       const_cast<T *>(biases.data())};
    std::string error;
    EXPECT_EQ(cpuCachedAttention(threads, buffers, args, &error), 0) << error;
    return out;
  }

  std::vector<T> random(size_t count) {
    std::vector<T> result(count);
    for (T &x : result)
      x = T(normal(engine));
    return result;
  }

private:
  void append(std::vector<T> &cache, std::vector<int32_t> &slots,
              std::vector<int32_t> &positions) {
    const auto rows = static_cast<int64_t>(slots.size()) / s.lanes;
    std::vector<T> from = random(slots.size() * (width() + 2));
    const int64_t args[] = {s.lanes,
                            rows,
                            s.slots,
                            s.places,
                            width(),
                            width() + 2,
                            sizeof(T) == 8 ? TSR_DTYPE_F64 : TSR_DTYPE_F32,
                            share.ranks,
                            share.ordinal * s.places};
    void *buffers[] = {cache.data(), from.data(), slots.data(),
                       positions.data()};
    std::string error;
    EXPECT_EQ(cpuAppend(1, buffers, args, &error), 0) << error;
  }

  Shape s;
  Share share;
  std::vector<T> keys, values, biases;
  std::mt19937 engine{7};
  std::normal_distribution<double> normal;
};

const Shape kShapes[] = {{1, 2, 20, 1, 1, 8, 0},   {2, 3, 140, 4, 2, 5, 0},
                         {1, 2, 200, 6, 2, 64, 0}, {1, 4, 70, 4, 4, 24, 7},
                         {2, 2, 16, 3, 1, 16, 5},  {1, 1, 1, 2, 1, 3, 0},
                         {2, 3, 90, 3, 3, 6, 0, 8}};

template <typename T>
void expectNear(const std::vector<T> &found, const std::vector<double> &wanted,
                double tolerance) {
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t k = 0; k < wanted.size(); ++k)
    EXPECT_NEAR(double(found[k]), wanted[k], tolerance) << "element " << k;
}

template <typename T> void checkShape(const Shape &s, double tolerance) {
  Caches<T> caches(s);
  std::vector<int32_t> slots, positions;
  const double scale = 1 / std::sqrt(double(s.headDim));
  for (int32_t lane = 0; lane < s.lanes; ++lane) {
    for (int32_t slot = 0; slot < s.slots; ++slot) {
      // The last slot stays empty where there are others.
      const bool isEmpty = s.slots > 1 && slot == s.slots - 1;
      const auto count =
          isEmpty ? 0 : int32_t(s.window ? s.places + 9 : s.places - slot);
      caches.fill(lane, slot, count);
      slots.push_back(isEmpty ? -1 : slot);
      positions.push_back(isEmpty ? 0 : count - 1);
    }
  }
  std::vector<T> q = caches.random(slots.size() * s.heads * s.headDim);
  std::vector<T> found = caches.attend(q, slots, positions, scale, 2);
  EXPECT_EQ(std::memcmp(found.data(),
                        caches.attend(q, slots, positions, scale, 1).data(),
                        found.size() * sizeof(T)),
            0)
      << "threads change bits";
  expectNear(found, caches.expectedRows(q, slots, positions, scale), tolerance);
}

/// Merges [ranks, rows, columns + 1] parts.
template <typename T>
std::vector<T> merge(const std::vector<T> &parts, int64_t ranks,
                     int64_t columns, bool weighted, int threads = 1) {
  const auto rows =
      static_cast<int64_t>(parts.size()) / (ranks * (columns + 1));
  const int64_t dtype = sizeof(T) == 8 ? TSR_DTYPE_F64 : TSR_DTYPE_F32;
  const int64_t args[] = {ranks, rows, columns, weighted, dtype, dtype};
  std::vector<T> means(rows * (columns + weighted),
                       std::numeric_limits<T>::quiet_NaN());
  void *buffers[] = {const_cast<T *>(parts.data()), means.data()};
  std::string error;
  EXPECT_EQ(cpuMergeMeans(threads, buffers, args, &error), 0) << error;
  return means;
}

/// Ranks that share the places make what one makes of all. Texts are of 1, 2,
/// .. positions, so that some ranks hold nothing of the first ones.
template <typename T>
void checkShares(const Shape &s, int64_t ranks, double tolerance) {
  Shape own = s;
  own.places = (s.places + ranks - 1) / ranks;
  std::vector<int32_t> slots, positions;
  for (int32_t lane = 0; lane < s.lanes; ++lane)
    for (int32_t slot = 0; slot < s.slots; ++slot) {
      const bool isLong = slot == s.slots - 1;
      slots.push_back(s.slots > 1 && slot == 1 ? -1 : slot);
      positions.push_back(int32_t(isLong ? s.places + (s.window ? 9 : 0) - 1
                                         : std::min<int64_t>(slot, s.places)));
    }
  auto fill = [&](Caches<T> &caches) {
    for (size_t k = 0; k < slots.size(); ++k)
      if (slots[k] >= 0)
        caches.fill(int32_t(k / s.slots), slots[k], positions[k] + 1);
  };
  Caches<T> whole(s);
  fill(whole);
  const std::vector<T> q = whole.random(slots.size() * s.heads * s.headDim);
  const double scale = 1 / std::sqrt(double(s.headDim));
  std::vector<T> parts;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    Caches<T> caches(own, {ranks, rank});
    fill(caches);
    const std::vector<T> part =
        caches.attend(q, slots, positions, scale, 2, true);
    parts.insert(parts.end(), part.begin(), part.end());
  }
  const std::vector<T> found = merge(parts, ranks, s.headDim, false);
  SCOPED_TRACE(std::to_string(ranks) + " ranks");
  expectNear(found, whole.expectedRows(q, slots, positions, scale), tolerance);
}

class EveryTarget : public ::testing::TestWithParam<CpuTarget> {
protected:
  void SetUp() override {
    if (GetParam() > bestCpuTarget())
      GTEST_SKIP() << "this processor lacks the instructions";
    setCpuTarget(GetParam());
  }
  void TearDown() override { setCpuTarget(bestCpuTarget()); }
};

TEST_P(EveryTarget, CachedAttentionIsTheSoftmaxOfWhatWasAppended) {
  for (const Shape &shape : kShapes) {
    checkShape<float>(shape, 1e-5);
    checkShape<double>(shape, 1e-13);
  }
}

/// With a window, positions go around all places, which ranks divide.
TEST_P(EveryTarget, MeansOverSharedPlacesMergeToTheMean) {
  for (const Shape &shape : kShapes)
    for (int64_t ranks : {1, 2, 3, 7}) {
      if (shape.window && shape.places % ranks != 0)
        continue;
      checkShares<float>(shape, ranks, 1e-5);
      checkShares<double>(shape, ranks, 1e-13);
    }
}

/// Computes the last rows of a text of 300 positions in one slot.
template <typename T>
std::vector<T> attendToText(const std::vector<T> &q, const std::vector<T> &keys,
                            const std::vector<T> &values, int64_t rows) {
  constexpr int64_t places = 300, heads = 4, kvHeads = 2, dims = 20;
  const std::vector<int32_t> slots(rows, 0);
  std::vector<int32_t> positions;
  for (int64_t row = 0; row < rows; ++row)
    positions.push_back(int32_t(places - rows + row));
  const double scale = 0.3;
  int64_t args[TSR_CACHED_ATTENTION_ARGS] = {1,
                                             rows,
                                             1,
                                             places,
                                             heads,
                                             kvHeads,
                                             dims,
                                             heads * dims,
                                             0,
                                             0,
                                             sizeof(T) == 2 ? TSR_DTYPE_BF16
                                                            : TSR_DTYPE_F32,
                                             1};
  std::memcpy(&args[TSR_CACHED_ATTENTION_SCALE_BITS], &scale, sizeof scale);
  std::vector<T> out(rows * heads * dims);
  void *buffers[] = {const_cast<T *>(q.data()),
                     const_cast<T *>(keys.data()),
                     const_cast<T *>(values.data()),
                     const_cast<int32_t *>(slots.data()),
                     positions.data(),
                     out.data(),
                     nullptr};
  std::string error;
  EXPECT_EQ(cpuCachedAttention(3, buffers, args, &error), 0) << error;
  return out;
}

/// bf16 is widened, computed with in f32, and rounded once.
TEST_P(EveryTarget, Bf16IsTheRoundedResultOfF32) {
  std::mt19937 engine{5};
  std::normal_distribution<float> normal;
  for (int64_t rows : {1, 2, 19}) {
    std::vector<Bf16> halves[3];
    std::vector<float> wide[3];
    const int64_t sizes[] = {rows * 80, 300 * 40, 300 * 40};
    for (int k = 0; k < 3; ++k)
      for (int64_t i = 0; i < sizes[k]; ++i) {
        halves[k].push_back(floatToBf16(normal(engine)));
        wide[k].push_back(bf16ToFloat(halves[k].back()));
      }
    const auto found = attendToText(halves[0], halves[1], halves[2], rows);
    const auto wanted = attendToText(wide[0], wide[1], wide[2], rows);
    for (size_t i = 0; i < wanted.size(); ++i)
      EXPECT_EQ(found[i].bits, floatToBf16(wanted[i]).bits)
          << rows << " rows, element " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(CachedAttention, EveryTarget,
                         ::testing::Values(CpuTarget::Baseline, CpuTarget::Avx2,
                                           CpuTarget::Avx512));

/// A row alone has the bits that it has among others.
TEST(CachedAttention, RowsAreAlone) {
  const Shape s{1, 4, 90, 4, 2, 20, 0};
  Caches<float> caches(s);
  for (int32_t slot = 0; slot < 4; ++slot)
    caches.fill(0, slot, 80 - 20 * slot);
  std::vector<float> q = caches.random(4 * 80);
  std::vector<float> all =
      caches.attend(q, {0, 1, 2, 3}, {79, 59, 39, 19}, 0.3, 2);
  for (int32_t slot = 0; slot < 4; ++slot) {
    std::vector<float> own(q.begin() + slot * 80, q.begin() + slot * 80 + 80);
    std::vector<float> alone =
        caches.attend(own, {slot}, {79 - 20 * slot}, 0.3, 1);
    EXPECT_EQ(std::memcmp(alone.data(), &all[slot * 80], 80 * sizeof(float)),
              0);
  }
}

/// Rows as a prompt has them: a run in the first slot up to its last position,
/// a row of nobody, and rows of the second slot with a gap.
struct Prompt {
  std::vector<int32_t> slots, positions;

  Prompt(int32_t last, int32_t run) {
    for (int32_t position = last - run + 1; position <= last; ++position)
      add(0, position);
    add(-1, 0);
    for (int32_t position : {0, 1, 2, 4, 5})
      add(1, position);
  }

private:
  void add(int32_t slot, int32_t position) {
    slots.push_back(slot);
    positions.push_back(position);
  }
};

/// Rows that follow each other are attended to together, and texts of several
/// splits by several threads; each row has the bits that it has alone.
template <typename T>
void checkRuns(const Shape &s, int32_t run, double tolerance) {
  Caches<T> caches(s);
  const auto last = int32_t(s.window ? s.places + s.places / 2 : s.places) - 1;
  caches.fill(0, 0, last + 1);
  caches.fill(0, 1, 6);
  const Prompt rows(last, run);
  const int64_t columns = s.heads * s.headDim;
  const std::vector<T> q = caches.random(rows.slots.size() * columns);
  const std::vector<T> found =
      caches.attend(q, rows.slots, rows.positions, 0.3, 1);
  SCOPED_TRACE(std::to_string(s.places) + " places");
  expectNear(found, caches.expectedRows(q, rows.slots, rows.positions, 0.3),
             tolerance);
  for (int threads : {2, 3, 7, 40})
    EXPECT_EQ(
        std::memcmp(
            caches.attend(q, rows.slots, rows.positions, 0.3, threads).data(),
            found.data(), found.size() * sizeof(T)),
        0)
        << threads << " threads change bits";
  for (size_t k = 0; k < rows.slots.size(); ++k) {
    const std::vector<T> own(q.begin() + k * columns,
                             q.begin() + (k + 1) * columns);
    const std::vector<T> alone = caches.attend(
        own, {rows.slots[k]}, {rows.positions[k]}, 0.3, 1 + k % 4);
    EXPECT_EQ(
        std::memcmp(alone.data(), &found[k * columns], columns * sizeof(T)), 0)
        << "row " << k;
  }
}

TEST_P(EveryTarget, RowsThatFollowEachOtherHaveTheBitsOfRowsAlone) {
  const Shape shapes[] = {{1, 2, 700, 6, 2, 20, 0},   {1, 2, 300, 4, 4, 64, 0},
                          {1, 2, 330, 3, 1, 17, 300}, {1, 3, 90, 9, 1, 8, 60},
                          {1, 2, 520, 3, 3, 6, 0, 8}, {1, 2, 40, 20, 1, 9, 0}};
  for (const Shape &shape : shapes)
    for (int32_t run : {1, 2, 30}) {
      checkRuns<float>(shape, run, 2e-5);
      checkRuns<double>(shape, run, 1e-13);
    }
}

TEST(CachedAttention, SlotsAndPositionsThatCannotBeAreErrors) {
  float cache[32] = {}, rows[2] = {};
  int32_t slot = 2, position = 0;
  int64_t args[TSR_APPEND_ARGS] = {1, 1, 2, 8, 2, 2, TSR_DTYPE_F32, 1, 0};
  void *buffers[] = {cache, rows, &slot, &position};
  std::string error;
  EXPECT_EQ(cpuAppend(1, buffers, args, &error), TSR_INVALID_ARGUMENT);
  EXPECT_NE(error.find("slot 2 at position 0"), std::string::npos) << error;
  slot = 1;
  position = -1;
  EXPECT_EQ(cpuAppend(1, buffers, args, &error), TSR_INVALID_ARGUMENT);
  slot = -1;
  EXPECT_EQ(cpuAppend(1, buffers, args, &error), 0) << error;
  args[TSR_APPEND_START] = 8;
  EXPECT_EQ(cpuAppend(1, buffers, args, &error), TSR_INVALID_ARGUMENT);
  EXPECT_NE(error.find("place 8 does not begin the 8 places of one of 1 rank"),
            std::string::npos)
      << error;
  args[TSR_APPEND_START] = 0;
  args[TSR_APPEND_DTYPE] = TSR_DTYPE_I32;
  EXPECT_EQ(cpuAppend(1, buffers, args, &error), TSR_INVALID_ARGUMENT);
}

/// Two means of weights 3 and 1, one over nothing, of which only the weight is
/// asked; far from 1, weights neither overflow nor vanish.
TEST(MergeMeans, WeighsEachMean) {
  const double none = -std::numeric_limits<double>::infinity();
  for (double far : {0.0, 800.0, -800.0}) {
    const std::vector<double> parts = {2, std::log(3.0) + far, 0, none, 6, far};
    const std::vector<double> found = merge(parts, 3, 1, true);
    EXPECT_NEAR(found[0], 3, 1e-12);
    EXPECT_NEAR(found[1], std::log(4.0) + far, 1e-12);
  }
}

TEST(MergeMeans, OfNothingIsZeroAndOfNanIsNan) {
  const float none = -std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> found = merge<float>({0, 0, none, 0, 0, none}, 2, 2, true);
  EXPECT_EQ(found, (std::vector<float>{0, 0, none}));
  found = merge<float>({0, 0, none, nan, nan, nan}, 2, 2, false);
  EXPECT_TRUE(std::isnan(found[0]) && std::isnan(found[1]));
  found = merge<float>({nan, 1, nan, 3, 4, 0}, 2, 2, false);
  EXPECT_TRUE(std::isnan(found[0]));
}

/// Merging in two steps, as two axes do, is merging at once; threads change no
/// bits.
TEST(MergeMeans, IsAssociative) {
  constexpr int64_t ranks = 6, rows = 700, columns = 5;
  std::mt19937 engine{3};
  std::normal_distribution<double> normal;
  std::vector<double> parts(ranks * rows * (columns + 1));
  for (double &x : parts)
    x = 3 * normal(engine);
  const std::vector<double> wanted = merge(parts, ranks, columns, true);
  std::vector<double> inner;
  for (int64_t k = 0; k < ranks; k += 2) {
    const auto begin = parts.begin() + k * rows * (columns + 1);
    const std::vector<double> pair(begin, begin + 2 * rows * (columns + 1));
    const std::vector<double> merged = merge(pair, 2, columns, true);
    inner.insert(inner.end(), merged.begin(), merged.end());
  }
  const std::vector<double> found = merge(inner, ranks / 2, columns, true);
  for (size_t k = 0; k < wanted.size(); ++k)
    EXPECT_NEAR(found[k], wanted[k], 1e-13);
  EXPECT_EQ(merge(parts, ranks, columns, true, 4), wanted);
}

TEST(MergeMeans, SizesAndTypesThatCannotBeAreErrors) {
  float parts[4] = {}, mean[4];
  void *buffers[] = {parts, mean};
  std::string error;
  int64_t args[] = {0, 1, 1, 0, TSR_DTYPE_F32, TSR_DTYPE_F32};
  EXPECT_EQ(cpuMergeMeans(1, buffers, args, &error), TSR_INVALID_ARGUMENT);
  args[TSR_MERGE_MEANS_RANKS] = 2;
  args[TSR_MERGE_MEANS_DTYPE_OUT] = TSR_DTYPE_F64;
  EXPECT_EQ(cpuMergeMeans(1, buffers, args, &error), TSR_INVALID_ARGUMENT);
  EXPECT_NE(error.find("from dtype 0 to"), std::string::npos) << error;
}

} // namespace
