//===- AttentionTest.cpp - attention through the GPU's entries ------------===//
// Forward and backward in one program, against the CPU's entries; the key of
// dropout is another in each step, also when the step is a captured graph.

#include "CpuEntries.h"
#include "GpuWorld.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

using namespace gpu;

namespace {

struct Sizes {
  int64_t batch, heads, kvHeads, seqQ, seqK, headDim;
  bool causal;
  double dropout;
  int64_t buckets = 0, maxDistance = 0;
  int64_t queryStart = 0;
};

int64_t bitsOf(double value) {
  int64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

std::vector<int64_t> argsOf(const Sizes &s, int64_t seed, int64_t step) {
  int64_t q = s.heads * s.headDim, kv = s.kvHeads * s.headDim;
  std::vector<int64_t> args = {s.batch,
                               s.heads,
                               s.kvHeads,
                               s.seqQ,
                               s.seqK,
                               s.headDim,
                               q,
                               kv,
                               kv,
                               q,
                               q,
                               kv,
                               kv,
                               q,
                               s.causal,
                               bitsOf(1 / std::sqrt(double(s.headDim))),
                               TSR_DTYPE_F32,
                               bitsOf(s.dropout),
                               seed,
                               step,
                               /*stream=*/3,
                               /*batch start=*/1,
                               /*head start=*/2,
                               /*heads total=*/s.heads + 4,
                               s.queryStart,
                               /*queries total=*/s.queryStart + s.seqQ};
  args.resize(TSR_ATTENTION_ARGS);
  args[TSR_ATTENTION_BUCKETS] = s.buckets;
  args[TSR_ATTENTION_MAX_DISTANCE] = s.maxDistance;
  return args;
}

enum Place { Q, K, V, O, Lse, DO, DQ, DK, DV, Table, DTable, Count };
constexpr int64_t spacing = 1 << 18;

std::vector<int64_t> countsOf(const Sizes &s) {
  int64_t q = s.batch * s.seqQ * s.heads * s.headDim;
  int64_t kv = s.batch * s.seqK * s.kvHeads * s.headDim;
  return {q,
          kv,
          kv,
          q,
          s.batch * s.heads * s.seqQ,
          q,
          q,
          kv,
          kv,
          s.buckets * s.heads,
          s.buckets * s.heads};
}

using Call = std::function<int32_t(std::vector<void *>, bool backward)>;

/// Forward, then backward with what forward gave. Without a bias the entries
/// take no table.
int32_t attend(const std::vector<void *> &b, const Call &call) {
  if (int32_t code = call({b[Q], b[K], b[V], b[O], b[Lse], b[Table]}, false))
    return code;
  return call({b[DO], b[Q], b[K], b[V], b[O], b[Lse], b[DQ], b[DK], b[DV],
               b[Table], b[DTable]},
              true);
}

void compare(const Sizes &s) {
  World world(single(Count * spacing, [&](const Program &p) {
    std::vector<void *> buffers;
    for (int place = 0; place < Count; ++place)
      buffers.push_back(p.at(place * spacing));
    std::vector<int64_t> args = argsOf(s, p.frame.seed, p.frame.step);
    return attend(buffers, [&](std::vector<void *> b, bool backward) {
      return p.call(backward ? p.frame.api->attention_backward
                             : p.frame.api->attention,
                    b, args);
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
    std::vector<int64_t> args = argsOf(s, 17, step);
    std::string error;
    ASSERT_EQ(attend(buffers,
                     [&](std::vector<void *> b, bool backward) {
                       auto entry = backward ? tessera::cpuAttentionBackward
                                             : tessera::cpuAttention;
                       return entry(1, b.data(), args.data(), &error);
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

TEST(GpuAttention, FollowsTheCpu) {
  compare({2, 4, 4, 70, 70, 32, true, 0});
  compare({1, 4, 2, 33, 65, 64, false, 0});
  compare({2, 2, 2, 64, 64, 64, true, 0.25});
}

TEST(GpuAttention, AddsBiasesByDistance) {
  compare({2, 3, 3, 70, 90, 32, false, 0.1, 32, 128});
  compare({1, 2, 2, 65, 130, 64, true, 0, 32, 64, /*queryStart=*/65});
}

} // namespace
