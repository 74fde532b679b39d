//===- RingTest.cpp - what a ring of attention passes on ------------------===//
// Rounds follow each other without a pause, so that a missing event shows.

#include "test/Runtime/cuda/RingSuite.h"

#include <gtest/gtest.h>

using namespace gpu;
using namespace tessera;

namespace {

constexpr int64_t count = 3000, rounds = 5;
constexpr int64_t wholeAt = 0, earlyAt = 1 << 18, lateAt = 1 << 19,
                  backAt = 3 << 18, arenaBytes = 1 << 20;

std::vector<float> valuesOf(int64_t rank, int64_t elements) {
  std::vector<float> values(static_cast<size_t>(elements));
  for (int64_t i = 0; i < elements; ++i)
    values[size_t(i)] = static_cast<float>(rank * 100000 + i);
  return values;
}

/// Returns the distance to the next rank and, if there are more than two, over
/// one.
int64_t distanceOf(int64_t round, int64_t ranks) {
  return ranks > 2 ? 1 + round % 2 : 1;
}

/// Passes tensors between two buffers, to and fro; beside it copies what is
/// sent.
int32_t passAround(const Program &p, int64_t ranks, bool isAsync) {
  const tsr_abi_api &api = *p.frame.api;
  std::vector<int64_t> args = {2, count,  TSR_DTYPE_F32, TSR_REDUCE_SUM,
                               1, isAsync};
  args.resize(TSR_COLLECTIVE_ARGS);
  for (int64_t round = 0; round < rounds; ++round) {
    args[TSR_COLLECTIVE_DISTANCE] = distanceOf(round, ranks);
    void *from = p.at(round % 2 ? earlyAt : wholeAt);
    void *to = p.at(round % 2 ? wholeAt : earlyAt);
    for (int32_t code : {p.call(api.shift, {from, to}, args),
                         p.call(api.copy, {from, p.at(lateAt)},
                                {1, 4 * count, 4 * count, 4 * count}),
                         isAsync ? p.call(api.wait, {to}, {}) : 0})
      if (code)
        return code;
  }
  return 0;
}

} // namespace

void gpu::expectShiftGivesToTheNext(WorldOptions options, bool isAsync) {
  const int64_t ranks = options.axes[1].size;
  options.arenaBytes = arenaBytes;
  options.body = [&](const Program &p) {
    return passAround(p, ranks, isAsync);
  };
  int64_t distance = 0;
  for (int64_t round = 0; round < rounds; ++round)
    distance += distanceOf(round, ranks);
  World world(options);
  for (int64_t step = 0; step < 4; ++step) { // the last ones as a graph
    for (int64_t rank = 0; rank < world.size(); ++rank)
      world.write(rank, wholeAt, valuesOf(rank, count));
    Status status = world.step(step);
    ASSERT_TRUE(status.ok()) << status.message;
    for (int64_t rank = 0; rank < world.size(); ++rank) {
      const int64_t member = rank % ranks; // place on the last axis
      auto before = [&](int64_t by) {
        const int64_t other = (member + ranks * distance - by) % ranks;
        return valuesOf(rank - member + other, count);
      };
      EXPECT_EQ(world.read<float>(rank, earlyAt, count), before(distance));
      EXPECT_EQ(world.read<float>(rank, lateAt, count),
                before(distance - distanceOf(rounds - 1, ranks)));
    }
  }
}

namespace {

/// Chunks `chunks` of [outer, .., count], side by side.
std::vector<float> chunksOf(const std::vector<int64_t> &chunks, int64_t outer) {
  std::vector<float> values;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t chunk : chunks)
      for (int64_t i = 0; i < count; ++i)
        values.push_back(static_cast<float>((chunk * 10 + o) * 10000 + i));
  return values;
}

/// Deals out to chunks and back into another slice.
int32_t dealOut(const Program &p, int64_t outer, bool isAsync) {
  const tsr_abi_api &api = *p.frame.api;
  std::vector<int64_t> args(TSR_COLLECTIVE_ARGS);
  args[TSR_COLLECTIVE_AXES] = 2;
  args[TSR_COLLECTIVE_COUNT] = count;
  args[TSR_COLLECTIVE_DTYPE] = TSR_DTYPE_F32;
  args[TSR_COLLECTIVE_OUTER] = outer;
  args[TSR_COLLECTIVE_ASYNC] = isAsync;
  std::vector<int64_t> back = args;
  back[TSR_COLLECTIVE_MAKES_WHOLE] = 1;
  void *early = p.at(earlyAt), *late = p.at(lateAt);
  for (int32_t code : {p.call(api.zigzag, {p.at(wholeAt), early, late}, args),
                       isAsync ? p.call(api.wait, {early}, {}) : 0,
                       p.call(api.zigzag, {p.at(backAt), early, late}, back),
                       isAsync ? p.call(api.wait, {p.at(backAt)}, {}) : 0})
    if (code)
      return code;
  return 0;
}

} // namespace

void gpu::expectZigzagDealsTwoChunks(WorldOptions options, bool isAsync) {
  const int64_t ranks = options.axes[1].size;
  options.arenaBytes = arenaBytes;
  for (int64_t outer : {1, 3}) {
    options.body = [&](const Program &p) { return dealOut(p, outer, isAsync); };
    World world(options);
    for (int64_t rank = 0; rank < world.size(); ++rank) {
      const int64_t member = rank % ranks;
      world.write(rank, wholeAt, chunksOf({2 * member, 2 * member + 1}, outer));
    }
    Status status = world.step();
    ASSERT_TRUE(status.ok()) << status.message;
    for (int64_t rank = 0; rank < world.size(); ++rank) {
      const int64_t member = rank % ranks;
      auto read = [&](int64_t at, int64_t chunks) {
        return world.read<float>(rank, at, chunks * outer * count);
      };
      EXPECT_EQ(read(earlyAt, 1), chunksOf({member}, outer));
      EXPECT_EQ(read(lateAt, 1), chunksOf({2 * ranks - 1 - member}, outer));
      EXPECT_EQ(read(backAt, 2), chunksOf({2 * member, 2 * member + 1}, outer));
    }
  }
}

namespace {

struct Case {
  int64_t ranks;
  bool isAsync;
};

class GpuRing : public testing::TestWithParam<Case> {
protected:
  static WorldOptions options(int64_t ranks) {
    WorldOptions result;
    result.axes = {{"dp", 1}, {"cp", ranks}};
    return result;
  }
};

INSTANTIATE_TEST_SUITE_P(InOrderAndBesideTheProgram, GpuRing,
                         testing::Values(Case{1, false}, Case{2, false},
                                         Case{3, false}, Case{2, true},
                                         Case{3, true}));

TEST_P(GpuRing, ShiftGivesToTheNext) {
  expectShiftGivesToTheNext(options(GetParam().ranks), GetParam().isAsync);
}
TEST_P(GpuRing, ZigzagDealsTwoChunks) {
  expectZigzagDealsTwoChunks(options(GetParam().ranks), GetParam().isAsync);
}

} // namespace
