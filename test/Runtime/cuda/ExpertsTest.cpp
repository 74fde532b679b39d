//===- ExpertsTest.cpp - mixtures of experts through the GPU's entries ----===//

#include "runtime/cpu/CpuEntries.h"
#include "test/Runtime/cuda/GpuWorld.h"
#include "test/Runtime/cuda/experts/RoutedSuite.h"

#include <gtest/gtest.h>

using namespace gpu;
using namespace tessera::test;

namespace {

std::vector<unsigned char> bytesOf(Buffer &buffer) {
  auto *data = static_cast<unsigned char *>(buffer.data());
  return {data, static_cast<unsigned char *>(buffer.at(buffer.size()))};
}

/// Runs one step whose program is the call.
void onGpu(const std::vector<int64_t> &args, std::vector<Buffer> &buffers) {
  std::vector<int64_t> places = {0};
  for (Buffer &buffer : buffers)
    places.push_back((places.back() + int64_t(bytesOf(buffer).size()) + 511) /
                     256 * 256);
  World world(single(places.back(), [&](const Program &p) {
    std::vector<void *> at;
    for (size_t i = 0; i < buffers.size(); ++i)
      at.push_back(p.at(places[i]));
    return p.call(p.frame.api->routed, at, args);
  }));
  for (size_t i = 0; i < buffers.size(); ++i)
    world.write(0, places[i], bytesOf(buffers[i]));
  tessera::Status status = world.step();
  ASSERT_TRUE(status.ok()) << status.message;
  auto found = world.read<unsigned char>(0, places[buffers.size() - 1],
                                         bytesOf(buffers.back()).size());
  std::copy(found.begin(), found.end(),
            static_cast<unsigned char *>(buffers.back().data()));
}

class GpuRouted : public testing::TestWithParam<RoutedSizes> {};
TEST_P(GpuRouted, EqualsCpu) { expectEqualsCpu(onGpu, GetParam()); }
INSTANTIATE_TEST_SUITE_P(Sizes, GpuRouted, testing::ValuesIn(routedSizes()));

TEST(GpuRouted, RoundsAreThoseOfTheCpu) {
  for (const MessageSizes &sizes : messageSizes())
    expectRoundsOfCpu(onGpu, sizes);
}

TEST(GpuRouted, GatesAreThoseOfTheCpu) {
  for (auto [experts, k] :
       {std::pair<int64_t, int64_t>{8, 2}, {1, 1}, {5, 5}, {70, 3}})
    expectGatesOfCpu(onGpu, 19, experts, k);
}

constexpr int64_t kTokens = 40, kExperts = 3, kInner = 16, kColumns = 24;
constexpr int64_t kGatesAt = 1 << 16, kWeightAt = 2 << 16, kResultAt = 3 << 16;
std::vector<int64_t> productArgs() {
  std::vector<int64_t> args(TSR_ROUTED_ARGS);
  args[TSR_ROUTED_KIND] = TSR_ROUTED_PRODUCT;
  args[TSR_ROUTED_TOKENS] = kTokens;
  args[TSR_ROUTED_EXPERTS] = kExperts;
  args[TSR_ROUTED_COLUMNS] = kColumns;
  args[TSR_ROUTED_INNER] = kInner;
  args[TSR_ROUTED_K] = 1;
  args[TSR_ROUTED_DTYPE_IN] = args[TSR_ROUTED_DTYPE_OUT] = TSR_DTYPE_F32;
  return args;
}

class CapturedExperts : public testing::TestWithParam<int64_t> {};

/// Steps from the third on are launches of a graph. Which rows an expert gets
/// changes in each, so nothing of it may be in the graph. A token has an
/// expert; of compact rows two are nobody's.
TEST_P(CapturedExperts, FollowTheGates) {
  std::vector<int64_t> args = productArgs();
  args[TSR_ROUTED_ROWS] = GetParam();
  const int64_t room = GetParam() > 0 ? GetParam() : kExperts * kTokens;
  World world(single(4 << 16, [&](const Program &p) {
    return p.call(p.frame.api->routed,
                  {p.at(0), p.at(kWeightAt), p.at(kGatesAt), p.at(kResultAt)},
                  args);
  }));
  Buffer rows(TSR_DTYPE_F32, room * kInner);
  Buffer weight(TSR_DTYPE_F32, kExperts * kColumns * kInner);
  rows.fillIntegers(1, 3);
  weight.fillIntegers(2, 3);
  world.write(0, 0, bytesOf(rows));
  world.write(0, kWeightAt, bytesOf(weight));
  for (int64_t step = 0; step < 5; ++step) {
    Buffer gates(TSR_DTYPE_F32, kTokens * kExperts);
    gates.fill(0);
    for (int64_t t = 0; t < kTokens; ++t)
      gates.set(t * kExperts + t * (step + 1) % 7 % kExperts, 1);
    world.write(0, kGatesAt, bytesOf(gates));
    tessera::Status status = world.step(step);
    ASSERT_TRUE(status.ok()) << status.message;
    Buffer wanted(TSR_DTYPE_F32, room * kColumns);
    void *host[] = {rows.data(), weight.data(), gates.data(), wanted.data()};
    std::string error;
    ASSERT_EQ(tessera::cpuRouted(1, host, args.data(), &error), 0);
    EXPECT_EQ(world.read<unsigned char>(0, kResultAt, bytesOf(wanted).size()),
              bytesOf(wanted))
        << "step " << step;
  }
  EXPECT_EQ(world.describe().find("cannot be captured"), std::string::npos);
}
INSTANTIATE_TEST_SUITE_P(Rows, CapturedExperts,
                         testing::Values(0, kTokens + 2));

std::string openingFails(std::vector<int64_t> args) {
  try {
    World world(single(1 << 16, [&](const Program &p) {
      return p.call(p.frame.api->routed, {p.at(0), p.at(0), p.at(0), p.at(0)},
                    args);
    }));
    return world.step().message;
  } catch (const tessera::Error &error) {
    return error.status.message;
  }
}

TEST(GpuRouted, RefusalsComeBeforeTheFirstStep) {
  std::vector<int64_t> args = productArgs();
  args[TSR_ROUTED_DTYPE_IN] = args[TSR_ROUTED_DTYPE_OUT] = TSR_DTYPE_F64;
  EXPECT_NE(openingFails(args).find("routed: f64 is not supported on device "
                                    "'cuda'; use f32 or bf16"),
            std::string::npos);
  args = productArgs();
  args[TSR_ROUTED_TOKENS] = -1;
  EXPECT_NE(openingFails(args).find("routed: negative size -1"),
            std::string::npos);
}

/// Ranks on 'ep' have 2 experts and 3 tokens each, rows of 5.
constexpr int64_t kMembers = 2, kOwn = 2, kEach = 3, kRow = 5;
constexpr int64_t kRows = kOwn * kMembers * kEach;

std::vector<float> gatesOfRank(int64_t rank) {
  std::vector<float> gates(kMembers * kEach * kOwn);
  for (size_t i = 0; i < gates.size(); ++i)
    gates[i] = static_cast<float>((int64_t(i) + rank) % 3);
  return gates;
}

/// Returns the value of an element of rows [experts of all ranks, tokens of
/// this one, row].
float valueOf(int64_t rank, int64_t index) {
  return static_cast<float>(1000 * rank + index + 1);
}

TEST(GpuRouted, AnExchangeByGatesBringsZerosForTheOthers) {
  for (int64_t async : {0, 1}) {
    WorldOptions options;
    options.axes = {{"ep", kMembers}};
    options.arenaBytes = 1 << 14;
    options.body = [&](const Program &p) {
      std::vector<int64_t> args(TSR_COLLECTIVE_ARGS);
      args[TSR_COLLECTIVE_AXES] = 1;
      args[TSR_COLLECTIVE_COUNT] = kEach * kRow;
      args[TSR_COLLECTIVE_DTYPE] = TSR_DTYPE_F32;
      args[TSR_COLLECTIVE_OUTER] = 1;
      args[TSR_COLLECTIVE_ASYNC] = async;
      args[TSR_COLLECTIVE_ROWS] = kOwn;
      args[TSR_COLLECTIVE_GATED_EXPERTS] = kOwn;
      args[TSR_COLLECTIVE_GATED_TOKENS] = kMembers * kEach;
      args[TSR_COLLECTIVE_GATED_ROW] = kRow;
      args[TSR_COLLECTIVE_DTYPE_GATES] = TSR_DTYPE_F32;
      if (int32_t code = p.call(p.frame.api->all_to_all,
                                {p.at(0), p.at(4096), p.at(8192)}, args))
        return code;
      return async ? p.call(p.frame.api->wait, {p.at(4096)}, {}) : 0;
    };
    World world(options);
    for (int64_t rank = 0; rank < kMembers; ++rank) {
      std::vector<float> source(kRows * kRow);
      for (size_t i = 0; i < source.size(); ++i)
        source[i] = valueOf(rank, int64_t(i));
      world.write(rank, 0, source);
      world.write(rank, 8192, gatesOfRank(rank));
    }
    tessera::Status status = world.step();
    ASSERT_TRUE(status.ok()) << status.message;
    for (int64_t rank = 0; rank < kMembers; ++rank) {
      std::vector<float> gates = gatesOfRank(rank), wanted;
      for (int64_t x = 0; x < kOwn; ++x)
        for (int64_t t = 0; t < kMembers * kEach; ++t)
          for (int64_t c = 0; c < kRow; ++c)
            wanted.push_back(
                gates[t * kOwn + x] == 0
                    ? 0
                    : valueOf(t / kEach,
                              ((rank * kOwn + x) * kEach + t % kEach) * kRow +
                                  c));
      EXPECT_EQ(world.read<float>(rank, 4096, kRows * kRow), wanted)
          << "rank " << rank;
    }
  }
}

} // namespace
