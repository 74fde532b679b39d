//===- EmulatedTest.cpp - Sampling's own code, on a CPU -------------------===//

#include "runtime/cuda/sampling/SamplingTable.h"
#include "test/Runtime/cuda/attention/Emulator.h"
#include "test/Runtime/cuda/sampling/SamplingSuite.h"

#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::test;

namespace {

/// Returns the first defect that the emulator finds, or "".
template <class Problem, class Decode, class Check, class Run>
std::string defectOf(Decode decode, Check check, Run run,
                     const std::vector<int64_t> &args,
                     std::vector<Buffer> &buffers) {
  std::vector<void *> pointers;
  for (Buffer &buffer : buffers)
    pointers.push_back(buffer.data());
  Problem call;
  std::string error;
  if (decode(args.data(), pointers.data(), &call, &error) != 0)
    return error;
  const std::string why = check(call);
  return why.empty() ? run(call) : why;
}

CacheBackend emulated(Order order) {
  return [on = Emulator{order}](int entry, const std::vector<int64_t> &args,
                                std::vector<Buffer> &buffers, size_t) {
    std::string defect =
        entry == TSR_ENTRY_PENALIZE
            ? defectOf<PenalizeProblem>(
                  decodePenalize, cuda::checkPenalize,
                  [&](const auto &call) { return cuda::runPenalize(call, on); },
                  args, buffers)
        : entry == TSR_ENTRY_TOP
            ? defectOf<TopProblem>(
                  decodeTop, cuda::checkTop,
                  [&](const auto &call) { return cuda::runTop(call, on); },
                  args, buffers)
            : defectOf<MergeTopProblem>(
                  decodeMergeTop, cuda::checkMergeTop,
                  [&](const auto &call) { return cuda::runMergeTop(call, on); },
                  args, buffers);
    EXPECT_EQ(defect, "");
  };
}

class EmulatedSampling : public testing::TestWithParam<Order> {};

TEST_P(EmulatedSampling, TopIsThatOfTheCpu) {
  expectTopOfCpu(emulated(GetParam()));
}
TEST_P(EmulatedSampling, DrawsAreThoseOfTheCpu) {
  expectDrawsOfCpu(emulated(GetParam()));
}
TEST_P(EmulatedSampling, MergedListsAreThoseOfTheCpu) {
  expectMergedOfCpu(emulated(GetParam()));
}
TEST_P(EmulatedSampling, PenaltiesAreThoseOfTheCpu) {
  expectPenaltiesOfCpu(emulated(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Orders, EmulatedSampling,
                         testing::Values(Order::Forward, Order::Shuffled));

TEST(SamplingCalls, WhatTheDeviceCannotRunIsRefused) {
  TopProblem top = {};
  top.dtype = TSR_DTYPE_F64;
  EXPECT_NE(cuda::checkTop(top).find("f64 is not supported"),
            std::string::npos);
  top.dtype = TSR_DTYPE_F32;
  top.start = int64_t(1) << 31;
  EXPECT_NE(cuda::checkTop(top).find("columns are too many"),
            std::string::npos);
  PenalizeProblem penalize = {};
  penalize.tokens = int64_t(1) << 31;
  EXPECT_NE(cuda::checkPenalize(penalize).find("tokens are too many"),
            std::string::npos);
  MergeTopProblem merge = {};
  merge.ranks = merge.count = int64_t(1) << 16;
  EXPECT_NE(cuda::checkMergeTop(merge).find("candidates are too many"),
            std::string::npos);
}

} // namespace
