//===- AttentionTest.cpp - attention through the GPU's entries ------------===//
// Forward and backward in one program, against the CPU's entries; the key of
// dropout is another in each step, also when the step is a captured graph. bf16
// without dropout is cuDNN's where there is one.

#include "runtime/cpu/CpuEntries.h"
#include "runtime/cuda/cudnn/CudnnAttention.h"
#include "runtime/support/DType.h"
#include "test/Runtime/cuda/AttentionSizes.h"
#include "test/Runtime/cuda/GpuWorld.h"

#include <gtest/gtest.h>
#include <random>

using namespace gpu;
using tessera::cuda::CudnnAttention;

namespace {

using Sizes = AttentionSizes;

enum Place { Q, K, V, O, Lse, DO, DQ, DK, DV, Count };
constexpr int64_t spacing = 1 << 18;

std::vector<int64_t> countsOf(const Sizes &s) {
  int64_t q = s.queryElements(), kv = s.keyElements();
  return {q, kv, kv, q, s.statistics(), q, q, kv, kv};
}

using Call = std::function<int32_t(std::vector<void *>, bool backward)>;

/// Calls forward, then backward with the results of forward.
int32_t attend(const std::vector<void *> &b, const Call &call) {
  if (int32_t code = call({b[Q], b[K], b[V], b[O], b[Lse]}, false))
    return code;
  return call({b[DO], b[Q], b[K], b[V], b[O], b[Lse], b[DQ], b[DK], b[DV]},
              true);
}

/// A buffer on the host, in the type of the call; lse is f32.
class Host {
public:
  Host(int64_t dtype, int64_t count)
      : dtype(int(dtype)), bytes(count * tessera::dtypeBytes(int(dtype))) {}

  void set(const std::vector<double> &values) {
    tessera::narrow(dtype, values.data(), bytes.data(), values.size());
  }
  std::vector<double> values() const {
    std::vector<double> result(bytes.size() / tessera::dtypeBytes(dtype));
    tessera::widen(dtype, bytes.data(), result.data(), result.size());
    return result;
  }

  int dtype;
  std::vector<char> bytes;
};

std::vector<Host> randomBuffers(const Sizes &s) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  std::vector<int64_t> counts = countsOf(s);
  std::vector<Host> result;
  for (int place = 0; place < Count; ++place) {
    result.emplace_back(place == Lse ? TSR_DTYPE_F32 : s.dtype, counts[place]);
    std::vector<double> values(counts[place]);
    for (double &value : values)
      value = normal(random);
    result.back().set(values);
  }
  return result;
}

void runOnCpu(const Sizes &s, std::vector<Host> &host, int64_t step) {
  std::vector<void *> buffers;
  for (Host &each : host)
    buffers.push_back(each.bytes.data());
  std::vector<int64_t> args = argsOf(s, 17, step);
  std::string error;
  auto call = [&](std::vector<void *> b, bool backward) {
    auto entry =
        backward ? tessera::cpuAttentionBackward : tessera::cpuAttention;
    return entry(1, b.data(), args.data(), &error);
  };
  ASSERT_EQ(attend(buffers, call), 0) << error;
}

/// Returns the tolerance. f32: sums of up to a few hundred terms, in another
/// order. bf16: 8 bits, and probabilities that are rounded before or after
/// their division.
double toleranceOf(const Host &host, double expected) {
  return host.dtype == TSR_DTYPE_F32 ? 1e-4 : 0.03 + std::abs(expected) / 64;
}

void expectNear(const World &world, int place, const Host &host, int64_t step) {
  Host got(host.dtype, 0);
  got.bytes = world.read<char>(0, place * spacing, host.bytes.size());
  std::vector<double> values = got.values(), expected = host.values();
  for (size_t i = 0; i < values.size(); ++i)
    ASSERT_NEAR(values[i], expected[i], toleranceOf(host, expected[i]))
        << "place " << place << " element " << i << " step " << step;
}

WorldOptions worldOf(const Sizes &s) {
  return single(Count * spacing, [s](const Program &p) {
    std::vector<void *> buffers;
    for (int place = 0; place < Count; ++place)
      buffers.push_back(p.at(place * spacing));
    std::vector<int64_t> args = argsOf(s, p.frame.seed, p.frame.step);
    return attend(buffers, [&](std::vector<void *> b, bool backward) {
      return p.call(backward ? p.frame.api->attention_backward
                             : p.frame.api->attention,
                    b, args);
    });
  });
}

std::vector<char> resultsOf(const World &world, const std::vector<Host> &host) {
  std::vector<char> all;
  for (int place : {O, Lse, DQ, DK, DV}) {
    auto bytes = world.read<char>(0, place * spacing, host[place].bytes.size());
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  return all;
}

/// Returns the device's description of itself.
std::string compare(const Sizes &s) {
  World world(worldOf(s));
  std::vector<Host> host = randomBuffers(s);
  for (int place = 0; place < Count; ++place)
    world.write(0, place * spacing, host[place].bytes);
  std::vector<char> first;
  for (int64_t step = 0; step < 4; ++step) {
    tessera::Status status = world.step(step, 17);
    EXPECT_TRUE(status.ok()) << status.message;
    if (step == 0)
      first = resultsOf(world, host);
    else if (s.dropout == 0)
      EXPECT_EQ(resultsOf(world, host), first) << "other bits in step " << step;
    runOnCpu(s, host, step);
    for (int place : {O, Lse, DQ, DK, DV})
      expectNear(world, place, host[place], step);
  }
  return world.describe();
}

/// Runs without cuDNN, also where it is.
struct WithoutCudnn {
  WithoutCudnn() { setenv("TESSERA_CUDNN", "off", 1); }
  ~WithoutCudnn() { unsetenv("TESSERA_CUDNN"); }
};

TEST(GpuAttention, FollowsTheCpu) {
  compare({2, 4, 4, 70, 70, 32, true, 0});
  compare({1, 4, 2, 33, 65, 64, false, 0});
  compare({2, 2, 2, 64, 64, 64, true, 0.25});
}

/// Compares with cuDNN, if there is one.
void compareBf16(const Sizes &s) {
  std::string text = compare(s), absence = CudnnAttention::absence();
  EXPECT_NE(text.find(absence.empty()
                          ? "attention by cuDNN " + CudnnAttention::version()
                          : "attention by Tessera's kernels where " + absence),
            std::string::npos)
      << text;
}

TEST(GpuAttention, Bf16FollowsTheCpu) {
  for (bool causal : {false, true})
    for (int64_t kvHeads : {4, 2, 1})
      compareBf16({2, 4, kvHeads, 70, 70, 64, causal, 0, TSR_DTYPE_BF16});
  compareBf16({1, 2, 2, 33, 65, 128, false, 0, TSR_DTYPE_BF16});
  // Many blocks add to each row of d_q.
  compareBf16({1, 1, 1, 400, 400, 64, true, 0, TSR_DTYPE_BF16});
  compare({2, 2, 2, 64, 64, 64, true, 0.25, TSR_DTYPE_BF16});
}

TEST(GpuAttention, OwnKernelsInBf16) {
  WithoutCudnn without;
  std::string text = compare({2, 4, 2, 70, 70, 64, true, 0, TSR_DTYPE_BF16});
  EXPECT_NE(text.find("attention by Tessera's kernels where TESSERA_CUDNN is "
                      "off"),
            std::string::npos)
      << text;
}

TEST(GpuAttention, RefusesAnUnknownChoice) {
  setenv("TESSERA_CUDNN", "no", 1);
  std::string message;
  try {
    World world(worldOf({1, 1, 1, 8, 8, 8, true, 0, TSR_DTYPE_BF16}));
  } catch (const tessera::Error &error) {
    message = error.what();
  }
  unsetenv("TESSERA_CUDNN");
  EXPECT_NE(message.find("TESSERA_CUDNN is 'no'; use on or off"),
            std::string::npos)
      << message;
}

} // namespace
