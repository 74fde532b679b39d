//===- LaunchTest.cpp - generated kernels: image, scalars, workspace ------===//

#include "test/Runtime/cuda/GpuWorld.h"

#include <gtest/gtest.h>

using namespace gpu;

namespace {

constexpr int64_t blocks = 3, threads = 64, count = blocks * threads;
constexpr int64_t sharedBytes = 64 * 1024;

/// Products take this workspace anyway; the kernels use the workspace behind
/// it.
constexpr int64_t skippedBytes = 32 << 20;

/// affine: workspace[i] = in[i] * scalars[0], by way of dynamic shared memory
/// above 48 KiB. finish: out[i] = workspace[i] + scalars[1].
/// double: out[i] = 2 * in[i]. double_batch does so for several launches.
const char ptx[] = R"(.version 8.0
.target sm_80
.address_size 64
.extern .shared .align 4 .b8 tile[];
.visible .entry affine(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3)
{
  .reg .b32 %r<8>;
  .reg .b64 %rd<12>;
  .reg .f32 %f<5>;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %ctaid.x;
  mad.lo.s32 %r4, %r3, %r2, %r1;
  mul.wide.s32 %rd1, %r4, 4;
  ld.param.u64 %rd2, [p0];
  add.s64 %rd3, %rd2, %rd1;
  ld.global.f32 %f1, [%rd3];
  ld.param.u64 %rd4, [p2];
  ld.global.u64 %rd5, [%rd4];
  cvt.rn.f32.s64 %f2, %rd5;
  mul.f32 %f3, %f1, %f2;
  mov.u32 %r5, tile;
  shl.b32 %r6, %r1, 2;
  add.s32 %r7, %r5, %r6;
  st.shared.f32 [%r7+61440], %f3;
  bar.sync 0;
  ld.shared.f32 %f4, [%r7+61440];
  ld.param.u64 %rd6, [p3];
  add.s64 %rd7, %rd6, %rd1;
  st.global.f32 [%rd7+33554432], %f4;
  ret;
}
.visible .entry finish(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3)
{
  .reg .b32 %r<5>;
  .reg .b64 %rd<8>;
  .reg .f32 %f<4>;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %ctaid.x;
  mad.lo.s32 %r4, %r3, %r2, %r1;
  mul.wide.s32 %rd1, %r4, 4;
  ld.param.u64 %rd2, [p3];
  add.s64 %rd3, %rd2, %rd1;
  ld.global.f32 %f1, [%rd3+33554432];
  ld.param.u64 %rd4, [p2];
  ld.global.u64 %rd5, [%rd4+8];
  cvt.rn.f32.s64 %f2, %rd5;
  add.f32 %f3, %f1, %f2;
  ld.param.u64 %rd6, [p1];
  add.s64 %rd7, %rd6, %rd1;
  st.global.f32 [%rd7], %f3;
  ret;
}
.visible .entry double(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3)
{
  .reg .b32 %r<5>;
  .reg .b64 %rd<6>;
  .reg .f32 %f<3>;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %ctaid.x;
  mad.lo.s32 %r4, %r3, %r2, %r1;
  mul.wide.s32 %rd1, %r4, 4;
  ld.param.u64 %rd2, [p0];
  add.s64 %rd3, %rd2, %rd1;
  ld.global.f32 %f1, [%rd3];
  add.f32 %f2, %f1, %f1;
  ld.param.u64 %rd4, [p1];
  add.s64 %rd5, %rd4, %rd1;
  st.global.f32 [%rd5], %f2;
  ret;
}
.visible .entry double_batch(.param .align 8 .b8 table[4096])
{
  .reg .b32 %r<6>;
  .reg .b64 %rd<9>;
  .reg .f32 %f<3>;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %ctaid.x;
  mad.lo.s32 %r4, %r3, %r2, %r1;
  mul.wide.s32 %rd1, %r4, 4;
  mov.u32 %r5, %ctaid.y;
  mul.wide.u32 %rd2, %r5, 16;
  mov.b64 %rd3, table;
  add.s64 %rd4, %rd3, %rd2;
  ld.param.u64 %rd5, [%rd4];
  ld.param.u64 %rd6, [%rd4+8];
  add.s64 %rd7, %rd5, %rd1;
  ld.global.f32 %f1, [%rd7];
  add.f32 %f2, %f1, %f1;
  add.s64 %rd8, %rd6, %rd1;
  st.global.f32 [%rd8], %f2;
  ret;
}
)";

const tsr_abi_device_image image = {ptx, sizeof ptx, nullptr, 0,
                                    skippedBytes + count * 4};
const tsr_abi_device_kernel finish = {"finish", blocks, threads, 0,
                                      2,        2,      nullptr, nullptr};
const tsr_abi_device_kernel affine = {"affine", blocks, threads, sharedBytes,
                                      2,        2,      &finish, nullptr};

constexpr int64_t outAt = 4096;

int32_t launch(const Program &p, const tsr_abi_device_kernel &kernel,
               int64_t factor, int64_t addend) {
  return p.call(
      p.frame.api->launch,
      {const_cast<tsr_abi_device_kernel *>(&kernel), p.at(0), p.at(outAt)},
      {count, 1, 0, factor, addend});
}

std::vector<float> inputs() {
  std::vector<float> in(count);
  for (int64_t i = 0; i < count; ++i)
    in[i] = static_cast<float>(i % 50 - 20);
  return in;
}

std::vector<float> wanted(int64_t factor, int64_t addend) {
  std::vector<float> out = inputs();
  for (float &value : out)
    value = value * static_cast<float>(factor) + static_cast<float>(addend);
  return out;
}

WorldOptions withImage(Body body) {
  WorldOptions options = single(8192, std::move(body));
  options.image = &image;
  return options;
}

/// Steps one and two are queued call by call and captured, the others are
/// launches of the graph; the scalars differ in each.
TEST(GpuLaunch, ScalarsOfEveryStepReachTheKernels) {
  World world(withImage([](const Program &p) {
    return launch(p, affine, p.frame.step + 2, p.frame.seed);
  }));
  world.write(0, 0, inputs());
  for (int64_t step = 0; step < 6; ++step) {
    tessera::Status status = world.step(step, 100 - step);
    ASSERT_TRUE(status.ok()) << status.message;
    ASSERT_EQ(world.read<float>(0, outAt, count), wanted(step + 2, 100 - step))
        << "step " << step;
  }
  EXPECT_NE(world.describe().find("PTX of sm_80 compiled by the driver"),
            std::string::npos)
      << world.describe();
  EXPECT_EQ(world.describe().find("cannot be captured"), std::string::npos)
      << world.describe();
}

/// Another list of calls is another graph.
TEST(GpuLaunch, ChangedCallsAreCapturedAgain) {
  World world(withImage([](const Program &p) {
    int32_t code = launch(p, affine, 3, p.frame.step);
    if (code || p.frame.step < 4)
      return code;
    return p.call(p.frame.api->fill, {p.at(outAt)}, {4});
  }));
  world.write(0, 0, inputs());
  for (int64_t step = 0; step < 8; ++step) {
    tessera::Status status = world.step(step);
    ASSERT_TRUE(status.ok()) << status.message;
    std::vector<float> out = wanted(3, step);
    if (step >= 4)
      out[0] = 0;
    ASSERT_EQ(world.read<float>(0, outAt, count), out) << "step " << step;
  }
}

TEST(GpuLaunch, PoisonRunsEveryOpByItself) {
  WorldOptions options =
      withImage([](const Program &p) { return launch(p, affine, 5, 1); });
  options.poison = true;
  World world(options);
  world.write(0, 0, inputs());
  for (int64_t step = 0; step < 3; ++step)
    ASSERT_TRUE(world.step(step).ok());
  EXPECT_EQ(world.read<float>(0, outAt, count), wanted(5, 1));
}

const tsr_abi_device_kernel doubling = {"double", blocks,  threads,       0, 2,
                                        0,        nullptr, "double_batch"};
constexpr int64_t bufferBytes = count * 4;

/// out[k] = 2 * in[k], where in[0] is buffer 0 and out[k] is buffer 1 + k.
int32_t doubleInto(const Program &p, int64_t k, int64_t from,
                   int64_t followers) {
  return p.call(p.frame.api->launch,
                {const_cast<tsr_abi_device_kernel *>(&doubling),
                 p.at(from * bufferBytes), p.at((1 + k) * bufferBytes)},
                {count, 1, followers});
}

/// Three launches that run as one, then one that reads what the last wrote.
int32_t doubleInBatch(const Program &p) {
  for (int64_t k = 0; k < 3; ++k)
    if (int32_t code = doubleInto(p, k, 0, 2 - k))
      return code;
  return doubleInto(p, 3, 3, 0);
}

WorldOptions doublingWorld(Body body) {
  WorldOptions options = withImage(std::move(body));
  options.arenaBytes = 5 * bufferBytes;
  return options;
}

void expectDoubled(World &world) {
  world.write(0, 0, inputs());
  for (int64_t step = 0; step < 5; ++step) { // captured in the second
    world.write(0, bufferBytes, std::vector<float>(4 * count, -1));
    tessera::Status status = world.step(step);
    ASSERT_TRUE(status.ok()) << status.message;
    for (int64_t k = 0; k < 4; ++k)
      ASSERT_EQ(world.read<float>(0, (1 + k) * bufferBytes, count),
                wanted(k < 3 ? 2 : 4, 0))
          << "step " << step << ", launch " << k;
  }
}

TEST(GpuLaunch, SeveralLaunchesRunAsOne) {
  World world(doublingWorld(doubleInBatch));
  expectDoubled(world);
}

TEST(GpuLaunch, PoisonRunsThemOneByOne) {
  WorldOptions options = doublingWorld(doubleInBatch);
  options.poison = true;
  World world(options);
  expectDoubled(world);
}

/// Batches that the call list promises and does not hold are refused, not left
/// out.
TEST(GpuLaunch, BrokenBatchesAreRefused) {
  auto message = [](Body body) {
    World world(doublingWorld(std::move(body)));
    return world.step().message;
  };
  std::string cut = message([](const Program &p) {
    int32_t code = doubleInto(p, 0, 0, 1);
    return code ? code : p.call(p.frame.api->fill, {p.at(0)}, {4});
  });
  EXPECT_NE(cut.find("only 1 of 2 launches of kernel 'double'"),
            std::string::npos)
      << cut;
  std::string ended =
      message([](const Program &p) { return doubleInto(p, 0, 0, 1); });
  EXPECT_NE(ended.find("only 1 of 2 launches"), std::string::npos) << ended;
  std::string miscounted = message([](const Program &p) {
    int32_t code = doubleInto(p, 0, 0, 2);
    return code ? code : doubleInto(p, 1, 0, 0);
  });
  EXPECT_NE(miscounted.find("only 1 of 3 launches"), std::string::npos)
      << miscounted;
  std::string many =
      message([](const Program &p) { return doubleInto(p, 0, 0, 256); });
  EXPECT_NE(many.find("257 launches of kernel 'double' with 2 buffers cannot"),
            std::string::npos)
      << many;
  std::string formless = message([](const Program &p) {
    return p.call(
        p.frame.api->launch,
        {const_cast<tsr_abi_device_kernel *>(&finish), p.at(0), p.at(outAt)},
        {count, 1, 1, 0, 0});
  });
  EXPECT_NE(formless.find("2 launches of kernel 'finish'"), std::string::npos)
      << formless;
}

std::string openingFails(const tsr_abi_device_kernel &kernel,
                         const tsr_abi_device_image *with) {
  WorldOptions options =
      withImage([&](const Program &p) { return launch(p, kernel, 1, 1); });
  options.image = with;
  try {
    World world(options);
    return world.step().message;
  } catch (const tessera::Error &error) {
    return error.status.message;
  }
}

TEST(GpuLaunch, BadKernelsAreNamed) {
  tsr_abi_device_kernel missing = finish;
  missing.name = "absent";
  EXPECT_NE(openingFails(missing, &image).find("has no kernel 'absent'"),
            std::string::npos);
  tsr_abi_device_kernel wide = finish;
  wide.threads = 2048;
  EXPECT_NE(openingFails(wide, &image).find("2048 threads"), std::string::npos);
  EXPECT_NE(openingFails(finish, nullptr).find("has no tsr_program_image"),
            std::string::npos);
  tsr_abi_device_image broken = image;
  const char text[] = ".target sm_80 this is not PTX";
  broken.ptx = text;
  broken.ptx_bytes = sizeof text;
  EXPECT_NE(openingFails(finish, &broken).find("cannot compile"),
            std::string::npos);
}

} // namespace
