//===- GpuTest.cpp - The kernels on a GPU ---------------------------------===//

#include "runtime/cuda/attention/AttentionKernels.h"
#include "test/Runtime/cuda/attention/AttentionSuite.h"

#include <cstdio>
#include <gtest/gtest.h>
#include <map>

using namespace tessera;
using namespace tessera::test;

static void check(cudaError_t error) {
  ASSERT_EQ(error, cudaSuccess) << cudaGetErrorString(error);
}

namespace {
/// Copies of host buffers on the device, each allocated once per call.
class DeviceCopies {
public:
  explicit DeviceCopies(const AttentionOperands &operands)
      : call(operands.call) {
    if (!call.key)
      return;
    key = Buffer(TSR_DTYPE_F64, 1);
    std::memcpy(key.data(), call.key, 8);
    call.key = static_cast<const uint64_t *>(at({&key, 0}));
  }
  ~DeviceCopies() {
    for (auto &entry : copies)
      cudaFree(entry.second);
    for (auto &entry : copiesOfSegments)
      cudaFree(entry.second);
    cudaFree(scratch);
  }

  void *at(const Tensor &t) {
    void *&copy = copies[t.buffer];
    if (!copy) {
      check(cudaMalloc(&copy, bytes(*t.buffer)));
      check(cudaMemcpy(copy, t.buffer->data(), bytes(*t.buffer),
                       cudaMemcpyHostToDevice));
    }
    return static_cast<char *>(copy) +
           (static_cast<char *>(t.buffer->at(t.offset)) -
            static_cast<char *>(t.buffer->data()));
  }
  const void *at(const std::vector<int32_t> &segments) {
    if (segments.empty())
      return nullptr;
    void *&copy = copiesOfSegments[&segments];
    const size_t bytes = segments.size() * sizeof(int32_t);
    if (!copy) {
      check(cudaMalloc(&copy, bytes));
      check(cudaMemcpy(copy, segments.data(), bytes, cudaMemcpyHostToDevice));
    }
    return copy;
  }
  void *workspace(bool backward) {
    if (const size_t bytes = cuda::attentionWorkspace(call, backward))
      check(cudaMalloc(&scratch, bytes));
    return scratch;
  }
  void copyBack() {
    check(cudaDeviceSynchronize());
    for (auto &entry : copies)
      check(cudaMemcpy(entry.first->data(), entry.second, bytes(*entry.first),
                       cudaMemcpyDeviceToHost));
  }

  cuda::AttentionCall call; /* its key is on the device */

private:
  static size_t bytes(Buffer &b) {
    return size_t(static_cast<char *>(b.at(b.size())) -
                  static_cast<char *>(b.data()));
  }

  std::map<Buffer *, void *> copies;
  std::map<const std::vector<int32_t> *, void *> copiesOfSegments;
  Buffer key;
  void *scratch = nullptr;
};

class GpuBackend : public Backend {
public:
  void forward(const AttentionOperands &x) override {
    DeviceCopies device(x);
    check(cuda::attentionForward(
        device.call, device.at(x.q), device.at(x.k), device.at(x.v),
        device.at(x.o), device.at(x.lse), device.at(x.table),
        device.at(*x.querySegments), device.at(*x.keySegments),
        device.workspace(false), nullptr));
    device.copyBack();
  }
  void backward(const AttentionOperands &x) override {
    DeviceCopies device(x);
    check(cuda::attentionBackward(
        device.call, device.at(x.dO), device.at(x.q), device.at(x.k),
        device.at(x.v), device.at(x.o), device.at(x.lse), device.at(x.dQ),
        device.at(x.dK), device.at(x.dV), device.at(x.table),
        device.at(x.dTable), device.at(*x.querySegments),
        device.at(*x.keySegments), device.workspace(true), nullptr));
    device.copyBack();
  }
};

class GpuAttention : public testing::TestWithParam<int64_t> {
protected:
  GpuBackend backend;
};
} // namespace

TEST_P(GpuAttention, ForwardEqualsReference) {
  expectForwardEqualsReference(backend, GetParam());
}
TEST_P(GpuAttention, BackwardEqualsReference) {
  expectBackwardEqualsReference(backend, GetParam());
}
TEST_P(GpuAttention, SlicesMakeTheWhole) {
  expectSlicesMakeTheWhole(backend, GetParam());
}
TEST_P(GpuAttention, MaskIsPhiloxOfGlobalIndex) {
  expectMaskIsPhiloxOfGlobalIndex(backend, GetParam());
}
TEST_P(GpuAttention, UnseenKeysHaveGradientZero) {
  expectUnseenKeysHaveGradientZero(backend, GetParam());
}
TEST_P(GpuAttention, LargeScoresDoNotOverflow) {
  expectLargeScoresDoNotOverflow(backend, GetParam());
}
TEST_P(GpuAttention, NanStaysInItsRow) {
  expectNanStaysInItsRow(backend, GetParam());
}
TEST_P(GpuAttention, HiddenTilesAreNotRead) {
  expectHiddenTilesAreNotRead(backend, GetParam());
}
TEST_P(GpuAttention, GapsAreUntouched) {
  expectGapsAreUntouched(backend, GetParam());
}
TEST_P(GpuAttention, TwoRunsGiveTheSameBits) {
  expectSameBits(backend, backend, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Types, GpuAttention,
                         testing::Values(TSR_DTYPE_F32, TSR_DTYPE_BF16),
                         [](const auto &info) {
                           return info.param == TSR_DTYPE_F32 ? "F32" : "Bf16";
                         });

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("no GPU: nothing tested");
    return 77;
  }
  return RUN_ALL_TESTS();
}
