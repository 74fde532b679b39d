//===- RoutedCallTest.cpp - What the GPU refuses, and what it reserves ----===//

#include "runtime/cuda/experts/RoutedCall.h"
#include "tessera/abi.h"

#include <gtest/gtest.h>

using namespace tessera;

namespace {
RoutedProblem product() {
  RoutedProblem p = {};
  p.kind = TSR_ROUTED_PRODUCT;
  p.tokens = 100;
  p.experts = 4;
  p.columns = 16;
  p.inner = 24;
  p.dtypeIn = p.dtypeOut = TSR_DTYPE_BF16;
  return p;
}
} // namespace

TEST(RoutedCall, RefusesWhatTheKernelsCannotDo) {
  RoutedProblem p = product();
  EXPECT_EQ(cuda::checkRouted(p), "");
  p.dtypeIn = TSR_DTYPE_F64;
  EXPECT_EQ(cuda::checkRouted(p),
            "routed: f64 is not supported on device 'cuda'; use f32 or bf16");
  p = product();
  p.rows = 800;
  EXPECT_EQ(cuda::checkRouted(p), "");
  p.round = 1;
  EXPECT_EQ(cuda::checkRouted(p), "");
  p.kind = TSR_ROUTED_ROUNDS;
  EXPECT_EQ(cuda::checkRouted(p), "routed: gates and their gradients have "
                                  "dtype 0 (f32), not 1");
  p = product();
  p.kind = TSR_ROUTED_PACK;
  p.members = 4;
  p.message = int64_t(1) << 29;
  EXPECT_EQ(cuda::checkRouted(p),
            "routed: 2147483648 rows of messages are too many for device "
            "'cuda'; at most 2147482624");
  p = product();
  p.rows = int64_t(1) << 31;
  EXPECT_EQ(cuda::checkRouted(p), "routed: 2147483648 compact rows are too "
                                  "many for device 'cuda'; at most 2147482624");
  p = product();
  p.experts = 65536;
  EXPECT_EQ(cuda::checkRouted(p), "routed: 65536 experts are too many for "
                                  "device 'cuda'; at most 65535");
  p = product();
  p.tokens = int64_t(1) << 30;
  EXPECT_EQ(cuda::checkRouted(p),
            "routed: 4294967296 rows of experts are too many for device "
            "'cuda'; at most 2147482624");
  p = product();
  p.columns = p.inner = int64_t(1) << 31;
  EXPECT_EQ(cuda::checkRouted(p), "routed: 2147483648 columns are too many for "
                                  "device 'cuda'; at most 2147482624");
  p = product();
  p.kind = TSR_ROUTED_PRODUCT_GRAD_WEIGHT;
  p.columns = p.inner = int64_t(1) << 23;
  EXPECT_EQ(cuda::checkRouted(p), "routed: 17179869184 tiles are too many for "
                                  "device 'cuda'; at most 2147482624");
  p = product();
  p.dtypeIn = TSR_DTYPE_F32;
  EXPECT_EQ(cuda::checkRouted(p), "routed: products of dtype 0 (f32) have no "
                                  "results of dtype 1; use f32");
  p = product();
  p.kind = TSR_ROUTED_TOP_K;
  EXPECT_EQ(cuda::checkRouted(p), "routed: gates and their gradients have "
                                  "dtype 0 (f32), not 1");
  EXPECT_EQ(cuda::checkGatedRows({nullptr, 2, 10, 64, nullptr}), "");
  EXPECT_EQ(cuda::checkGatedRows({nullptr, 2, 10, int64_t(1) << 31, nullptr}),
            "routed: 2147483648 bytes of a row are too many for device 'cuda'; "
            "at most 2147482624");
}

TEST(RoutedCall, ListsAndPlacesAreInTheWorkspace) {
  RoutedProblem p = product();
  EXPECT_EQ(cuda::routedWorkspace(p), 4u * (4 + 400));
  p.kind = TSR_ROUTED_DISPATCH;
  EXPECT_EQ(cuda::routedWorkspace(p), 0u);
  p.rows = 200; // counts, first rows, places
  EXPECT_EQ(cuda::routedWorkspace(p), 4u * (4 + 5 + 400));
  p.kind = TSR_ROUTED_PRODUCT;
  EXPECT_EQ(cuda::routedWorkspace(p), 4u * (4 + 5));
  p.kind = TSR_ROUTED_PACK; // counts, all rows, where messages lie
  p.members = 2;
  EXPECT_EQ(cuda::routedWorkspace(p), 4u * (8 + 1 + 2 * (5 + 4)));
  p.own = true;
  EXPECT_EQ(cuda::routedWorkspace(p), 4u * (4 + 1 + 2 * (2 + 1)));
  p.kind = TSR_ROUTED_ROUNDS;
  EXPECT_EQ(cuda::routedWorkspace(p), 4u * 8);
  p.kind = TSR_ROUTED_TOP_K;
  p.dtypeIn = p.dtypeOut = TSR_DTYPE_F32;
  EXPECT_EQ(cuda::routedWorkspace(p), 0u);
}

TEST(RoutedCall, VectorsAreForWholeRows) {
  RoutedProblem p = product();
  alignas(16) static char memory[64];
  p.first = p.second = p.result = memory;
  EXPECT_TRUE(cuda::makeRoutedParams(p, memory).firstAligned);
  p.inner = 20; // columns of the rows and of the plain weight
  EXPECT_FALSE(cuda::makeRoutedParams(p, memory).firstAligned);
  EXPECT_FALSE(cuda::makeRoutedParams(p, memory).secondAligned);
  EXPECT_TRUE(cuda::makeRoutedParams(p, memory).resultAligned);
  p.transposed = true;
  EXPECT_TRUE(cuda::makeRoutedParams(p, memory).secondAligned);
  p.result = memory + 8;
  EXPECT_FALSE(cuda::makeRoutedParams(p, memory).resultAligned);
}
