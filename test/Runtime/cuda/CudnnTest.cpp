//===- CudnnTest.cpp - which calls cuDNN gets, and in which parts ---------===//
// With a stand-in that interprets the graphs (StandInCudnn.cpp). That they mean
// attention is compared in AttentionTest.cpp.

#include "runtime/cpu/CpuEntries.h"
#include "runtime/cuda/cudnn/CudnnAttention.h"
#include "runtime/support/DType.h"
#include "tessera/abi.h"
#include "test/Runtime/cuda/StandInControl.h"
#include "test/Runtime/cuda/StandInStream.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace tessera::cuda;

namespace {

AttentionCall callOf(int64_t batch) {
  AttentionCall call{};
  call.batch = batch;
  call.heads = 4, call.kvHeads = 2;
  call.seqQ = call.seqK = 20;
  call.headDim = 16;
  call.rowQ = call.rowO = call.rowDQ = call.rowDO = 64;
  call.rowK = call.rowV = call.rowDK = call.rowDV = 32;
  call.causal = true;
  call.scale = 0.25;
  call.dtype = TSR_DTYPE_BF16;
  return call;
}

/// Random bf16, aligned to 64 bytes.
class Buffers {
public:
  Buffers() : memory(count * size + 32), random(3) {
    std::normal_distribution<float> normal;
    for (int64_t i = 0; i < count * size; ++i)
      start()[i] = tessera::floatToBf16(normal(random));
    for (int64_t i = 0; i < count; ++i)
      pointers.push_back(start() + i * size);
  }
  uint16_t *start() {
    auto address = reinterpret_cast<uintptr_t>(memory.data());
    return memory.data() + (64 - address % 64) % 64 / 2;
  }
  static constexpr int64_t count = 10, size = 1 << 13;
  std::vector<uint16_t> memory;
  std::vector<void *> pointers;

private:
  std::mt19937 random;
};

std::string refusalOf(const AttentionCall &call, Direction direction,
                      int64_t shift = 0) {
  CudnnAttention attention;
  Buffers buffers;
  buffers.pointers[1] = static_cast<char *>(buffers.pointers[1]) + shift;
  EXPECT_FALSE(attention.takes(call, direction, buffers.pointers.data()));
  return attention.describe();
}

void expectRefusal(const AttentionCall &call, const char *why,
                   int64_t shift = 0) {
  EXPECT_EQ(refusalOf(call, Direction::Forward, shift),
            std::string("attention by Tessera's kernels where ") + why);
}

TEST(Cudnn, LeavesWhatItsGraphsDoNotSay) {
  AttentionCall call = callOf(2);
  call.dtype = TSR_DTYPE_F32;
  expectRefusal(call, "the type is not bf16");
  call = callOf(2);
  call.dropout = 0.1;
  expectRefusal(call, "there is dropout, whose bits are Tessera's own");
  call = callOf(2);
  call.queryStart = 4;
  expectRefusal(call, "the queries do not start with the keys");
  call = callOf(2);
  call.buckets = 32, call.maxDistance = 128;
  expectRefusal(call, "there is a bias by distance");
  call = callOf(2);
  call.window = 19;
  expectRefusal(call, "a window hides keys");
  call = callOf(2);
  call.keysTotal = 40;
  expectRefusal(call, "the keys are a slice");
  call = callOf(2);
  call.headDim = 12;
  expectRefusal(call, "head_dim is not a multiple of 8 up to 128");
  expectRefusal(callOf(0), "there are no queries");
}

TEST(Cudnn, LeavesRowsThatAreNotAligned) {
  const char *why = "rows do not begin at multiples of 16 bytes";
  AttentionCall call = callOf(2);
  call.rowK = 36;
  expectRefusal(call, why);
  expectRefusal(callOf(2), why, /*shift=*/8);
  call = callOf(2);
  call.rowDK = 36; // Only backward has it.
  EXPECT_NE(refusalOf(call, Direction::Backward).find(why), std::string::npos);
  CudnnAttention attention;
  Buffers buffers;
  EXPECT_TRUE(
      attention.takes(call, Direction::Forward, buffers.pointers.data()));
  EXPECT_EQ(attention.describe(), "attention by cuDNN 9.8.0");
}

/// Returns the gradients, computed with so many bytes for scores.
std::vector<uint16_t> gradients(int64_t mostStoredScores) {
  Buffers buffers; // a copy would lie elsewhere
  CudnnAttention attention(mostStoredScores);
  AttentionCall call = callOf(6);
  auto **forward = buffers.pointers.data() + 1;
  auto **backward = buffers.pointers.data();
  CUstream_st stream;
  for (Direction direction : {Direction::Forward, Direction::Backward}) {
    void **b = direction == Direction::Forward ? forward : backward;
    EXPECT_TRUE(attention.takes(call, direction, b));
    std::vector<char> workspace(attention.workspaceOf(call, direction));
    attention.run(call, direction, b, workspace.data(), &stream);
    stream.synchronize();
  }
  return {buffers.start() + 6 * Buffers::size,
          buffers.start() + 9 * Buffers::size};
}

TEST(Cudnn, ABatchInPartsHasTheSameBits) {
  constexpr int64_t perSequence = 4 * 64 * 64 * 2;
  std::vector<uint16_t> whole = gradients(6 * perSequence);
  EXPECT_EQ(whole, gradients(4 * perSequence)); // two parts
  EXPECT_EQ(whole, gradients(perSequence));
}

TEST(Cudnn, WorkspaceFollowsTheParts) {
  Buffers buffers;
  auto bytes = [&](int64_t mostStoredScores) {
    CudnnAttention attention(mostStoredScores);
    EXPECT_TRUE(attention.takes(callOf(64), Direction::Backward,
                                buffers.pointers.data()));
    return attention.workspaceOf(callOf(64), Direction::Backward);
  };
  // rowsum(dO * O) of 64 sequences or of one; the stand-in's own is the same.
  EXPECT_EQ(bytes(int64_t(1) << 30) - bytes(4 * 64 * 64 * 2),
            64 * 4 * 20 * 4 - 512);
}

TEST(Cudnn, LeavesBackwardWhereItsBitsMayDiffer) {
  CudnnAttention attention;
  Buffers buffers;
  standInMajor = 8;
  EXPECT_FALSE(
      attention.takes(callOf(2), Direction::Backward, buffers.pointers.data()));
  EXPECT_TRUE(
      attention.takes(callOf(2), Direction::Forward, buffers.pointers.data()));
  standInMajor = 9;
  EXPECT_EQ(attention.describe(),
            "attention by cuDNN 9.8.0; attention by Tessera's kernels where "
            "backward would not always give the same bits, which it does on "
            "compute capability 9");
}

TEST(Cudnn, LeavesScoresThatAreTooMany) {
  CudnnAttention attention(1000);
  Buffers buffers;
  EXPECT_FALSE(
      attention.takes(callOf(2), Direction::Backward, buffers.pointers.data()));
  EXPECT_EQ(attention.describe(),
            "attention by Tessera's kernels where the scores of a sequence "
            "need more than 1000 bytes");
  EXPECT_TRUE(
      attention.takes(callOf(2), Direction::Forward, buffers.pointers.data()));
}

} // namespace
