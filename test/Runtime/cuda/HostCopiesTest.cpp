//===- HostCopiesTest.cpp - what passes between the host and a step -------===//
#include "runtime/cuda/step/HostCopies.h"
#include "runtime/cuda/step/StepWait.h"
#include "test/Runtime/cuda/GpuWorld.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::cuda;
using namespace std::chrono_literals;

namespace {

constexpr int64_t lossAt = 256, wideAt = 512;

std::vector<TensorInfo> tensors() {
  auto tensor = [](Role role, const char *name, int64_t count, int64_t offset) {
    TensorInfo info{};
    info.role = role;
    info.name = name;
    info.dtype = role == Role::Input ? TSR_DTYPE_I32 : TSR_DTYPE_F32;
    info.shape = info.fileShape = info.localShape = {count};
    info.offset = offset;
    return info;
  };
  return {tensor(Role::Input, "ids", 20, 0), tensor(Role::Input, "lr", 1, 128),
          tensor(Role::Output, "loss", 1, lossAt),
          tensor(Role::Output, "logits", 100, wideAt)};
}

Rank rankOf(std::vector<TensorInfo> tensors) {
  auto metadata = std::make_shared<Metadata>();
  metadata->tensors = std::move(tensors);
  Rank rank;
  rank.metadata = metadata;
  return rank;
}

TEST(Uploads, HaveRoomForTheInputsOfAStep) {
  Uploads uploads(rankOf(tensors()));
  unsigned char *ids = uploads.take(80), *lr = uploads.take(4);
  ASSERT_TRUE(ids && lr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(lr) - reinterpret_cast<uintptr_t>(ids),
            128u);
  EXPECT_EQ(uploads.take(1), nullptr);
  uploads.release();
  EXPECT_EQ(uploads.take(80), ids);
  EXPECT_EQ(Uploads(rankOf({})).take(1), nullptr);
}

/// A piece is not given out again before the GPU has read it, however late.
TEST(Pieces, AreReadBeforeTheyAreFilledAgain) {
  constexpr int count = 3 * stagedPieces, bytes = 64;
  Stream stream;
  DeviceMemory memory;
  memory.allocate(count * bytes, "test");
  Pieces pieces;
  for (int i = 0; i < count; ++i) {
    unsigned char *piece = pieces.take(bytes);
    ASSERT_TRUE(piece);
    std::memset(piece, i + 1, bytes);
    check(cudaMemcpyAsync(memory.data() + i * bytes, piece, bytes,
                          cudaMemcpyHostToDevice, stream.get()),
          "copying");
    pieces.sent(piece, stream.get());
  }
  std::vector<unsigned char> found(count * bytes);
  check(cudaMemcpyAsync(found.data(), memory.data(), count * bytes,
                        cudaMemcpyDeviceToHost, stream.get()),
        "copying");
  check(cudaStreamSynchronize(stream.get()), "waiting");
  for (int i = 0; i < count * bytes; ++i)
    EXPECT_EQ(found[i], i / bytes + 1) << i;
  EXPECT_EQ(pieces.take(pieceBytes + 1), nullptr);
}

/// The program adds its step number to the loss. What the host reads behind a
/// step is that step's, and what it writes itself is not hidden by it, also
/// when steps are captured (from the third on).
TEST(StepResults, AreThoseOfTheStepThatEnded) {
  gpu::WorldOptions options =
      gpu::single(1 << 12, [](const gpu::Program &program) {
        return program.call(program.frame.api->copy,
                            {program.at(0), program.at(lossAt)}, {1, 4, 4, 4});
      });
  options.tensors = tensors();
  gpu::World world(options);
  for (int64_t step = 0; step < 5; ++step) {
    auto value = static_cast<float>(step + 1);
    world.write<float>(0, 0, {value});
    ASSERT_TRUE(world.step(step).ok());
    EXPECT_EQ(world.read<float>(0, lossAt, 1)[0], value);
    world.write<float>(0, lossAt, {-value});
    EXPECT_EQ(world.read<float>(0, lossAt, 1)[0], -value);
  }
}

TEST(StepResults, LargeOutputsAndOtherPlacesAreNotHere) {
  StepResults results(rankOf(tensors()));
  float values[100];
  results.hold();
  EXPECT_TRUE(results.read(lossAt, 4, values));
  EXPECT_FALSE(results.read(lossAt + 4, 4, values));
  EXPECT_FALSE(results.read(lossAt, 2, values));
  EXPECT_FALSE(results.read(wideAt, 400, values));
  results.forget();
  EXPECT_FALSE(results.read(lossAt, 4, values));
}

TEST(StepWait, SleepsThroughWhatTheLastStepTook) {
  StepWait wait;
  EXPECT_EQ(wait.napAfter(0ns), 0ns); // nothing is known: it asks
  EXPECT_EQ(wait.napAfter(3ms), StepWait::shortest);
  wait.ended(80ms);
  EXPECT_EQ(wait.napAfter(0ns), StepWait::longest);
  EXPECT_EQ(wait.napAfter(69500us), 500us);
  EXPECT_EQ(wait.napAfter(69990us), 0ns);
  EXPECT_EQ(wait.napAfter(91ms), 0ns);
  EXPECT_EQ(wait.napAfter(93ms), StepWait::shortest);
}

} // namespace
