//===- CachesTest.cpp - caches and sampling through the GPU's entries -----===//

#include "test/Runtime/cuda/GpuWorld.h"
#include "test/Runtime/cuda/caches/CacheSuite.h"
#include "test/Runtime/cuda/sampling/SamplingSuite.h"

#include <gtest/gtest.h>

using namespace gpu;
using namespace tessera::test;

namespace {

std::vector<unsigned char> bytesOf(Buffer &buffer) {
  auto *data = static_cast<unsigned char *>(buffer.data());
  return {data, static_cast<unsigned char *>(buffer.at(buffer.size()))};
}

/// Its index is its place.
tsr_abi_entry entryOf(const tsr_abi_api &api, int entry) {
  return reinterpret_cast<const tsr_abi_entry *>(&api)[entry];
}

/// Runs one step whose program is the call.
void onGpu(int entry, const std::vector<int64_t> &args,
           std::vector<Buffer> &buffers, size_t written) {
  std::vector<int64_t> places = {0};
  for (Buffer &buffer : buffers)
    places.push_back((places.back() + int64_t(bytesOf(buffer).size()) + 511) /
                     256 * 256);
  World world(single(places.back(), [&](const Program &p) {
    std::vector<void *> at;
    for (size_t i = 0; i < buffers.size(); ++i)
      at.push_back(p.at(places[i]));
    return p.call(entryOf(*p.frame.api, entry), at, args);
  }));
  for (size_t i = 0; i < buffers.size(); ++i)
    world.write(0, places[i], bytesOf(buffers[i]));
  tessera::Status status = world.step();
  ASSERT_TRUE(status.ok()) << status.message;
  auto found = world.read<unsigned char>(0, places[written],
                                         bytesOf(buffers[written]).size());
  std::copy(found.begin(), found.end(),
            static_cast<unsigned char *>(buffers[written].data()));
}

class GpuCaches : public testing::TestWithParam<int64_t> {};

TEST_P(GpuCaches, AttentionIsThatOfTheCpu) {
  for (const CacheShape &shape : cacheShapes())
    expectAttentionOfCpu(onGpu, shape, GetParam());
}
TEST_P(GpuCaches, RowsAreAlone) { expectRowsAreAlone(onGpu, GetParam()); }
TEST_P(GpuCaches, NanStaysInItsRow) {
  expectNanStaysInItsRow(onGpu, GetParam());
}
TEST_P(GpuCaches, AppendsAreThoseOfTheCpu) {
  expectAppendsOfCpu(onGpu, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Types, GpuCaches,
                         testing::Values(TSR_DTYPE_F32, TSR_DTYPE_BF16),
                         [](const auto &info) {
                           return info.param == TSR_DTYPE_F32 ? "F32" : "Bf16";
                         });

TEST(GpuMeans, AreThoseOfTheCpu) { expectMeansOfCpu(onGpu); }

TEST(GpuSampling, TopIsThatOfTheCpu) { expectTopOfCpu(onGpu); }
TEST(GpuSampling, DrawsAreThoseOfTheCpu) { expectDrawsOfCpu(onGpu); }
TEST(GpuSampling, MergedListsAreThoseOfTheCpu) { expectMergedOfCpu(onGpu); }
TEST(GpuSampling, PenaltiesAreThoseOfTheCpu) { expectPenaltiesOfCpu(onGpu); }

TEST(GpuCaches, CopiesWithinTheArena) {
  World world(single(1024, [](const Program &) { return 0; }));
  std::vector<int32_t> values(256, 7);
  for (int32_t i = 0; i < 256; ++i)
    values[size_t(i)] = i;
  world.write(0, 0, values);
  world.copy(0, 40, 400, 120);
  std::copy_n(values.begin() + 10, 30, values.begin() + 100);
  EXPECT_EQ(world.read<int32_t>(0, 0, 256), values);
}

} // namespace
