//===- EmulatedTest.cpp - The caches' own code, on a CPU ------------------===//

#include "runtime/cuda/caches/CacheTable.h"
#include "test/Runtime/cuda/attention/Emulator.h"
#include "test/Runtime/cuda/caches/CacheSuite.h"

#include <gtest/gtest.h>
#include <limits>

using namespace tessera;
using namespace tessera::test;

namespace {

template <class Problem, class Decode, class Check>
std::string decodeAndCheck(Decode decode, Check check,
                           const std::vector<int64_t> &args,
                           std::vector<Buffer> &buffers, Problem *call) {
  std::vector<void *> pointers;
  for (Buffer &buffer : buffers)
    pointers.push_back(buffer.data());
  pointers.push_back(nullptr);
  std::string error;
  if (decode(args.data(), pointers.data(), call, &error) != 0)
    return error;
  return check(*call);
}

/// The workspace holds NaN; behind it is a guard.
std::string attend(Order order, const std::vector<int64_t> &args,
                   std::vector<Buffer> &buffers) {
  CacheProblem call;
  std::string why = decodeAndCheck(
      decodeCachedAttention, cuda::checkCachedAttention, args, buffers, &call);
  if (!why.empty())
    return why;
  constexpr float kGuard = -7;
  const size_t size = cuda::cachedAttentionWorkspace(call) / sizeof(float);
  std::vector<float> workspace(size + 1,
                               std::numeric_limits<float>::quiet_NaN());
  workspace[size] = kGuard;
  why = cuda::runCachedAttention(call, workspace.data(), Emulator{order});
  EXPECT_EQ(workspace[size], kGuard);
  return why;
}

/// Returns the first defect that the emulator finds, or "".
std::string defectOf(Order order, int entry, const std::vector<int64_t> &args,
                     std::vector<Buffer> &buffers) {
  if (entry == TSR_ENTRY_CACHED_ATTENTION)
    return attend(order, args, buffers);
  if (entry == TSR_ENTRY_APPEND) {
    AppendProblem call;
    std::string why =
        decodeAndCheck(decodeAppend, cuda::checkAppend, args, buffers, &call);
    return why.empty() ? cuda::runAppend(call, Emulator{order}) : why;
  }
  MeansProblem call;
  std::string why = decodeAndCheck(decodeMergeMeans, cuda::checkMergeMeans,
                                   args, buffers, &call);
  return why.empty() ? cuda::runMergeMeans(call, Emulator{order}) : why;
}

CacheBackend emulated(Order order) {
  return [order](int entry, const std::vector<int64_t> &args,
                 std::vector<Buffer> &buffers, size_t) {
    EXPECT_EQ(defectOf(order, entry, args, buffers), "");
  };
}

class EmulatedCaches : public testing::TestWithParam<int64_t> {};

TEST_P(EmulatedCaches, AttentionIsThatOfTheCpu) {
  for (const CacheShape &shape : cacheShapes())
    expectAttentionOfCpu(emulated(Order::Forward), shape, GetParam());
}
TEST_P(EmulatedCaches, OrderOfThreadsDoesNotMatter) {
  for (Order order : {Order::Backward, Order::Shuffled})
    for (const CacheShape &shape :
         {CacheShape{2, 3, 140, 4, 2, 5, 0}, {1, 2, 400, 9, 1, 64, 0}})
      expectAttentionOfCpu(emulated(order), shape, GetParam());
}
TEST_P(EmulatedCaches, RowsAreAlone) {
  expectRowsAreAlone(emulated(Order::Forward), GetParam());
}
TEST_P(EmulatedCaches, NanStaysInItsRow) {
  expectNanStaysInItsRow(emulated(Order::Forward), GetParam());
}
TEST_P(EmulatedCaches, AppendsAreThoseOfTheCpu) {
  expectAppendsOfCpu(emulated(Order::Shuffled), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Types, EmulatedCaches,
                         testing::Values(TSR_DTYPE_F32, TSR_DTYPE_BF16),
                         [](const auto &info) {
                           return info.param == TSR_DTYPE_F32 ? "F32" : "Bf16";
                         });

TEST(EmulatedMeans, AreThoseOfTheCpu) {
  expectMeansOfCpu(emulated(Order::Forward));
}

/// A mean over nothing is not read.
TEST(EmulatedMeans, OfNothingAreNotRead) {
  const double none = -std::numeric_limits<double>::infinity();
  std::vector<Buffer> buffers = {Buffer(TSR_DTYPE_F32, 4),
                                 Buffer(TSR_DTYPE_F32, 1)};
  buffers[0].set(1, none); // behind a NaN
  buffers[0].set(2, 5);
  buffers[0].set(3, 0.25);
  EXPECT_EQ(defectOf(Order::Forward, TSR_ENTRY_MERGE_MEANS,
                     {2, 1, 1, 0, TSR_DTYPE_F32, TSR_DTYPE_F32}, buffers),
            "");
  EXPECT_EQ(buffers[1].get(0), 5);
}

/// A step fails instead of writing, or reading, where there is no place.
TEST(EmulatedCaches, RefuseSlotsAndPositionsThatCannotBe) {
  for (auto [slot, position] :
       {std::pair<int32_t, int32_t>{2, 0}, {1, -1}, {1, 7}}) {
    std::vector<Buffer> buffers = {
        Buffer(TSR_DTYPE_F32, 32), Buffer(TSR_DTYPE_F32, 2),
        Buffer(TSR_DTYPE_I32, 1), Buffer(TSR_DTYPE_I32, 1)};
    *static_cast<int32_t *>(buffers[2].data()) = slot;
    *static_cast<int32_t *>(buffers[3].data()) = position;
    const bool exists = slot < 2 && position >= 0;
    EXPECT_EQ(defectOf(Order::Forward, TSR_ENTRY_APPEND,
                       {1, 1, 2, 8, 2, 2, TSR_DTYPE_F32, 1, 0}, buffers),
              exists ? "" : "append: a row has no such slot or position");
    std::vector<Buffer> attention = {Buffer(TSR_DTYPE_F32, 2),
                                     buffers[0],
                                     buffers[0],
                                     buffers[2],
                                     buffers[3],
                                     Buffer(TSR_DTYPE_F32, 2)};
    EXPECT_EQ(
        defectOf(Order::Forward, TSR_ENTRY_CACHED_ATTENTION,
                 {1, 1, 2, 8, 1, 1, 2, 2, 0, 0, TSR_DTYPE_F32, 1, 0, 0, 0, 0},
                 attention),
        exists ? "" : "cached_attention: a row has no such slot or position");
  }
}

} // namespace
