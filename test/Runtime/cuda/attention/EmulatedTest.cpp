//===- EmulatedTest.cpp - The kernels' own code, on a CPU -----------------===//

#include "runtime/cuda/attention/AttentionParams.h"
#include "runtime/cuda/attention/KernelTable.h"
#include "test/Runtime/cuda/attention/AttentionSuite.h"
#include "test/Runtime/cuda/attention/Emulator.h"

#include <gtest/gtest.h>
#include <limits>

using namespace tessera;
using namespace tessera::test;

namespace {
class EmulatedBackend : public Backend {
public:
  explicit EmulatedBackend(Order order) : emulator{order} {}

  void forward(const AttentionOperands &x) override {
    ASSERT_EQ(cuda::checkAttention(x.call), nullptr);
    ASSERT_EQ(cuda::checkAttentionSlice(x.call), nullptr);
    cuda::AttentionBuffers buffers = {};
    inputs(x, &buffers);
    std::vector<float> workspace = workspaceOf(x.call, false);
    buffers.workspace = workspace.data();
    const std::string defect =
        cuda::runForward(cuda::makeParams(x.call, buffers),
                         x.call.dtype == TSR_DTYPE_BF16, emulator);
    EXPECT_EQ(defect, "");
  }

  void backward(const AttentionOperands &x) override {
    ASSERT_EQ(cuda::checkAttentionGradients(x.call), nullptr);
    cuda::AttentionBuffers buffers = {};
    inputs(x, &buffers);
    buffers.dO = at(x.dO);
    buffers.dQ = at(x.dQ);
    buffers.dK = at(x.dK);
    buffers.dV = at(x.dV);
    buffers.dTable = at(x.dTable);
    std::vector<float> workspace = workspaceOf(x.call, true);
    buffers.workspace = workspace.data();
    const std::string defect =
        cuda::runBackward(cuda::makeParams(x.call, buffers),
                          x.call.dtype == TSR_DTYPE_BF16, emulator);
    EXPECT_EQ(defect, "");
  }

private:
  /// Returns a workspace of NaN: values that nobody has written must leave no
  /// trace.
  static std::vector<float> workspaceOf(const cuda::AttentionCall &call,
                                        bool backward) {
    return std::vector<float>(cuda::attentionWorkspace(call, backward) / 4,
                              std::numeric_limits<float>::quiet_NaN());
  }
  static void *at(const Tensor &t) { return t.buffer->at(t.offset); }
  static void inputs(const AttentionOperands &x, cuda::AttentionBuffers *b) {
    b->q = at(x.q);
    b->k = at(x.k);
    b->v = at(x.v);
    b->o = at(x.o);
    b->lse = at(x.lse);
    b->table = at(x.table);
    b->querySegments = x.querySegments->data();
    b->keySegments = x.keySegments->data();
  }

  Emulator emulator;
};

class EmulatedAttention : public testing::TestWithParam<int64_t> {
protected:
  EmulatedBackend backend{Order::Forward};
};
} // namespace

TEST_P(EmulatedAttention, ForwardEqualsReference) {
  expectForwardEqualsReference(backend, GetParam());
}
TEST_P(EmulatedAttention, BackwardEqualsReference) {
  expectBackwardEqualsReference(backend, GetParam());
}
TEST_P(EmulatedAttention, SlicesMakeTheWhole) {
  expectSlicesMakeTheWhole(backend, GetParam());
}
TEST_P(EmulatedAttention, MaskIsPhiloxOfGlobalIndex) {
  expectMaskIsPhiloxOfGlobalIndex(backend, GetParam());
}
TEST_P(EmulatedAttention, UnseenKeysHaveGradientZero) {
  expectUnseenKeysHaveGradientZero(backend, GetParam());
}
TEST_P(EmulatedAttention, LargeScoresDoNotOverflow) {
  expectLargeScoresDoNotOverflow(backend, GetParam());
}
TEST_P(EmulatedAttention, NanStaysInItsRow) {
  expectNanStaysInItsRow(backend, GetParam());
}
TEST_P(EmulatedAttention, HiddenTilesAreNotRead) {
  expectHiddenTilesAreNotRead(backend, GetParam());
}
TEST_P(EmulatedAttention, GapsAreUntouched) {
  expectGapsAreUntouched(backend, GetParam());
}
TEST_P(EmulatedAttention, OrderOfThreadsDoesNotChangeABit) {
  for (Order order : {Order::Backward, Order::Shuffled}) {
    EmulatedBackend other(order);
    expectSameBits(backend, other, GetParam());
  }
}

INSTANTIATE_TEST_SUITE_P(Types, EmulatedAttention,
                         testing::Values(TSR_DTYPE_F32, TSR_DTYPE_BF16),
                         [](const auto &info) {
                           return info.param == TSR_DTYPE_F32 ? "F32" : "Bf16";
                         });
