//===- AttentionFormsTest.cpp - biases and slices through the entries -----===//
// Forward and backward in one program, against the CPU's entries: biases by
// distance, and keys that come slice by slice.

#include "runtime/cpu/CpuEntries.h"
#include "test/Runtime/cuda/AttentionSizes.h"
#include "test/Runtime/cuda/GpuWorld.h"

#include <gtest/gtest.h>
#include <random>

using namespace gpu;

namespace {

struct Sizes : AttentionSizes {
  int64_t buckets = 0, maxDistance = 0;
  int64_t slices = 1; ///< slices of the keys, one call after the other
  int64_t window = 0;
};

std::vector<int64_t> argsOf(const Sizes &s, int64_t seed, int64_t step,
                            int64_t slice) {
  std::vector<int64_t> args = gpu::argsOf(s, seed, step);
  args[TSR_ATTENTION_BUCKETS] = s.buckets;
  args[TSR_ATTENTION_MAX_DISTANCE] = s.maxDistance;
  args[TSR_ATTENTION_WINDOW] = s.window;
  if (s.slices == 1)
    return args;
  args[TSR_ATTENTION_SEQ_K] = s.seqK / s.slices;
  args[TSR_ATTENTION_KEY_START] = slice * (s.seqK / s.slices);
  args[TSR_ATTENTION_KEYS_TOTAL] = s.seqK;
  args[TSR_ATTENTION_EARLIER] = slice > 0;
  return args;
}

enum Place { Q, K, V, O, Lse, DO, DQ, DK, DV, Table, DTable, Count };
constexpr int64_t spacing = 1 << 18;

std::vector<int64_t> countsOf(const Sizes &s) {
  int64_t q = s.queryElements(), kv = s.keyElements();
  int64_t table = s.buckets * s.heads;
  return {q, kv, kv, q, s.statistics(), q, q, kv, kv, table, table};
}

using Call =
    std::function<int32_t(std::vector<void *>, bool backward, int64_t slice)>;

/// Calls forward, then backward with the results of forward. Without a bias the
/// entries take no table.
int32_t attend(const Sizes &s, const std::vector<void *> &b, const Call &call) {
  const int64_t keys = s.seqK / s.slices * s.kvHeads * s.headDim;
  auto part = [&](Place place, int64_t slice) -> void * {
    return static_cast<float *>(b[place]) + slice * keys;
  };
  for (int64_t i = 0; i < s.slices; ++i)
    if (int32_t code = call(
            {b[Q], part(K, i), part(V, i), b[O], b[Lse], b[Table]}, false, i))
      return code;
  for (int64_t i = 0; i < s.slices; ++i)
    if (int32_t code =
            call({b[DO], b[Q], part(K, i), part(V, i), b[O], b[Lse], b[DQ],
                  part(DK, i), part(DV, i), b[Table], b[DTable]},
                 true, i))
      return code;
  return 0;
}

void compare(const Sizes &s) {
  World world(single(Count * spacing, [&](const Program &p) {
    std::vector<void *> buffers;
    for (int place = 0; place < Count; ++place)
      buffers.push_back(p.at(place * spacing));
    return attend(
        s, buffers, [&](std::vector<void *> b, bool backward, int64_t slice) {
          return p.call(backward ? p.frame.api->attention_backward
                                 : p.frame.api->attention,
                        b, argsOf(s, p.frame.seed, p.frame.step, slice));
        });
  }));
  std::vector<int64_t> counts = countsOf(s);
  std::vector<std::vector<float>> host(Count);
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (int place = 0; place < Count; ++place) {
    host[place].resize(counts[place]);
    for (float &value : host[place])
      value = normal(random);
    world.write(0, place * spacing, host[place]);
  }
  for (int64_t step = 0; step < 4; ++step) {
    tessera::Status status = world.step(step, 17);
    ASSERT_TRUE(status.ok()) << status.message;
    std::vector<void *> buffers;
    for (std::vector<float> &values : host)
      buffers.push_back(values.data());
    std::string error;
    ASSERT_EQ(attend(s, buffers,
                     [&](std::vector<void *> b, bool backward, int64_t slice) {
                       auto entry = backward ? tessera::cpuAttentionBackward
                                             : tessera::cpuAttention;
                       return entry(1, b.data(),
                                    argsOf(s, 17, step, slice).data(), &error);
                     }),
              0)
        << error;
    for (int place : {O, Lse, DQ, DK, DV, DTable}) {
      auto got = world.read<float>(0, place * spacing, counts[place]);
      // Sums of up to a few hundred terms in f32, in another order.
      for (int64_t i = 0; i < counts[place]; ++i)
        ASSERT_NEAR(got[i], host[place][i], 1e-4)
            << "place " << place << " element " << i << " step " << step;
    }
  }
}

TEST(GpuAttentionForms, AddsBiasesByDistance) {
  compare({{2, 3, 3, 70, 90, 32, false, 0.1}, 32, 128});
  compare({{1, 2, 2, 65, 130, 64, true, 0, TSR_DTYPE_F32, /*queryStart=*/65},
           32,
           64});
}

/// The second half of the keys is hidden from the first queries, or from all.
TEST(GpuAttentionForms, AddsUpSlicesOfTheKeys) {
  Sizes s{{1, 4, 2, 60, 120, 32, true, 0.2}};
  s.slices = 2;
  for (int64_t start : {0, 50, 60}) {
    s.queryStart = start;
    compare(s);
  }
  s.causal = false;
  compare(s);
}

/// The window is tested on whole keys, beside a bias, and on slices the first
/// of which it hides.
TEST(GpuAttentionForms, SeesAWindowOfTheKeys) {
  Sizes s{{1, 4, 2, 130, 130, 32, true, 0.2}};
  s.window = 40;
  compare(s);
  Sizes biased{{1, 2, 2, 65, 130, 64, true, 0, TSR_DTYPE_F32, 65}, 32, 64};
  biased.window = 50;
  compare(biased);
  Sizes slices{{1, 4, 2, 60, 120, 32, true, 0.2}};
  slices.slices = 2;
  slices.queryStart = 60;
  slices.window = 30;
  compare(slices);
}

TEST(GpuAttentionForms, AFirstSliceThatIsHiddenIsRefused) {
  Sizes s{{1, 2, 2, 32, 64, 16, true, 0}};
  s.slices = 2;
  World world(single(Count * spacing, [&](const Program &p) {
    std::vector<int64_t> args = argsOf(s, 0, 0, /*slice=*/1);
    args[TSR_ATTENTION_EARLIER] = 0;
    return p.call(p.frame.api->attention,
                  {p.at(0), p.at(spacing), p.at(2 * spacing), p.at(3 * spacing),
                   p.at(4 * spacing)},
                  args);
  }));
  EXPECT_NE(world.step().message.find("first slice"), std::string::npos);
}

} // namespace
