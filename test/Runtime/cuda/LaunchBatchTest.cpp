//===- LaunchBatchTest.cpp - how many launches reach the driver -----------===//
// With the stand-in of the driver, which counts them. LaunchTest.cpp compares
// what they compute.

#include "test/Runtime/cuda/GpuWorld.h"
#include "test/Runtime/cuda/StandInControl.h"

#include <gtest/gtest.h>

using namespace gpu;

namespace {

const char ptx[] = ".version 8.0\n.target sm_80\n";
const tsr_abi_device_image image = {ptx, sizeof ptx, nullptr, 0, 0};
const tsr_abi_device_kernel doubling = {"double", 1, 32,      0,
                                        2,        0, nullptr, "double_batch"};
constexpr int64_t bufferBytes = 128;

/// Counts the launches of so many in a row, of which `together` at a time run
/// as one.
int launchesOf(int64_t number, int64_t together, bool poison) {
  WorldOptions options =
      single((number + 1) * bufferBytes, [=](const Program &p) {
        for (int64_t i = 0; i < number; ++i)
          if (int32_t code =
                  p.call(p.frame.api->launch,
                         {const_cast<tsr_abi_device_kernel *>(&doubling),
                          p.at(0), p.at((i + 1) * bufferBytes)},
                         {32, 1, together - 1 - i % together}))
            return code;
        return 0;
      });
  options.image = &image;
  options.poison = poison;
  World world(options);
  int before = standInLaunches;
  tessera::Status status = world.step();
  EXPECT_TRUE(status.ok()) << status.message;
  return standInLaunches - before;
}

TEST(GpuLaunchBatch, IsOneLaunch) {
  EXPECT_EQ(launchesOf(6, 1, false), 6);
  EXPECT_EQ(launchesOf(6, 3, false), 2);
  EXPECT_EQ(launchesOf(256, 256, false), 1); // the table is full
  EXPECT_EQ(launchesOf(6, 3, true), 6);
}

} // namespace
