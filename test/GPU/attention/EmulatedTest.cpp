//===- EmulatedTest.cpp - The kernels' own code, on a CPU -----------------===//

#include "AttentionParams.h"
#include "AttentionSuite.h"
#include "Emulator.h"
#include "KernelTable.h"

#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::test;

namespace {
class EmulatedBackend : public Backend {
public:
  explicit EmulatedBackend(Order order) : emulator{order} {}

  void forward(const AttentionOperands &x) override {
    ASSERT_EQ(cuda::checkAttention(x.call), nullptr);
    cuda::AttentionBuffers buffers = {};
    inputs(x, &buffers);
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
    std::vector<float> workspace(cuda::attentionWorkspace(x.call, true) / 4);
    buffers.workspace = workspace.data();
    const std::string defect =
        cuda::runBackward(cuda::makeParams(x.call, buffers),
                          x.call.dtype == TSR_DTYPE_BF16, emulator);
    EXPECT_EQ(defect, "");
  }

private:
  static void *at(const Tensor &t) { return t.buffer->at(t.offset); }
  static void inputs(const AttentionOperands &x, cuda::AttentionBuffers *b) {
    b->q = at(x.q);
    b->k = at(x.k);
    b->v = at(x.v);
    b->o = at(x.o);
    b->lse = at(x.lse);
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
