//===- CudnnPlanTest.cpp - cuDNN compiles attention's graphs --------------===//
// The real library, without a GPU: it makes plans for an H200 that is only
// described, which shows that its fused engines know the graphs. Nothing runs.

#include "runtime/cuda/cudnn/AttentionGraph.h"
#include "runtime/cuda/cudnn/ExecutionPlan.h"
#include "runtime/support/Status.h"
#include "tessera/abi.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <gtest/gtest.h>

using namespace tessera::cuda;

namespace {

/// Describes a GPU in the library's own format; figures of the CUDA C++
/// Programming Guide's table for compute capability 9.0.
constexpr const char *h200 =
    R"({"deviceVer": 900, "deviceName": "NVIDIA H200", "cudaDeviceId": 0,
        "maxGridSize": [2147483647, 65535, 65535],
        "maxBlockSize": [1024, 1024, 64], "regsPerBlock": 65536,
        "multiProcessorCount": 132, "warpSize": 32,
        "maxSharedMemoryPerBlock": 49152,
        "maxSharedMemoryPerBlockOptin": 232448,
        "reservedSharedMemoryPerBlock": 1024, "maxRegistersPerSM": 65536,
        "maxCtasPerSM": 32, "maxThreadsPerBlock": 1024,
        "maxThreadsPerSM": 2048, "totalGlobalMem": 150000000000,
        "l2CacheSize": 62914560, "driverVer": 13000, "pciDeviceId": 0,
        "isTccDriver": 0, "supportCoopLaunch": 1, "smClockRateKHz": 1980000,
        "memClockRateKHz": 3201000})";

struct Shape {
  int64_t batch, heads, kvHeads, seqQ, seqK, headDim;
  bool causal;
};

AttentionCall callOf(const Shape &s) {
  AttentionCall c{};
  c.batch = s.batch, c.heads = s.heads, c.kvHeads = s.kvHeads;
  c.seqQ = s.seqQ, c.seqK = s.seqK, c.headDim = s.headDim;
  // q, k and v are slices of one buffer, and so are their gradients.
  c.rowQ = c.rowK = c.rowV = (s.heads + 2 * s.kvHeads) * s.headDim;
  c.rowDQ = c.rowDK = c.rowDV = c.rowQ;
  c.rowO = c.rowDO = s.heads * s.headDim;
  c.causal = s.causal;
  c.scale = 1 / std::sqrt(double(s.headDim));
  c.dtype = TSR_DTYPE_BF16;
  return c;
}

class Plans : public testing::TestWithParam<Shape> {
protected:
  Plans() : device(*CudnnLibrary::find(), CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR) {
    device.set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
               static_cast<int64_t>(std::strlen(h200)), h200);
    device.finalize("describing a GPU");
  }

  /// Returns the bytes of workspace.
  int64_t plan(bool backward) {
    AttentionCall call = callOf(GetParam());
    GraphBuilder graph(*CudnnLibrary::find());
    if (backward)
      buildBackward(graph, call);
    else
      buildForward(graph, call);
    auto found = ExecutionPlan::find(std::move(graph), {nullptr, &device});
    EXPECT_TRUE(found.has_value());
    return found ? found->workspaceBytes() : -1;
  }

  Descriptor device;
};

TEST_P(Plans, ForwardStoresNoScores) {
  int64_t bytes = plan(false);
  EXPECT_GE(bytes, 0);
  EXPECT_LE(bytes, 4096);
}

/// So much that the limit of CudnnAttention means something.
TEST_P(Plans, BackwardStoresOneMatrixOfScores) {
  const Shape &s = GetParam();
  auto whole = [](int64_t n) { return (n + 127) / 128 * 128; };
  int64_t scores = s.batch * s.heads * whole(s.seqQ) * whole(s.seqK) * 2;
  int64_t keys = s.batch * s.heads * whole(s.seqK) * s.headDim * 2;
  EXPECT_LE(plan(true), scores + 2 * keys + 4096);
}

INSTANTIATE_TEST_SUITE_P(Attention, Plans,
                         testing::Values(
                             // GPT-2 124M and 1558M, one that no tile divides
                             Shape{8, 12, 12, 1024, 1024, 64, true},
                             Shape{2, 25, 25, 1024, 1024, 64, true},
                             Shape{3, 12, 12, 100, 100, 64, true},
                             // grouped queries of LLaMA, one head of keys
                             Shape{2, 32, 8, 2048, 2048, 128, true},
                             Shape{2, 8, 1, 256, 256, 128, true},
                             // BERT, a decoder that reads an encoder
                             Shape{4, 12, 12, 512, 512, 64, false},
                             Shape{2, 8, 8, 60, 200, 80, false}));

} // namespace

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  if (!CudnnLibrary::find()) {
    std::printf("skipped: there is no libcudnn.so.9 from 9.8 on\n");
    return 77;
  }
  return RUN_ALL_TESTS();
}
