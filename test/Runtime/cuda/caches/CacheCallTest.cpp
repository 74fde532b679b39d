//===- CacheCallTest.cpp - what device 'cuda' cannot run of caches --------===//

#include "runtime/cuda/caches/CacheCall.h"
#include "tessera/abi.h"

#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::cuda;

namespace {

CacheProblem attention() {
  CacheProblem p = {};
  p.lanes = p.deal = 1;
  p.rows = 4;
  p.slots = 2;
  p.places = 1024;
  p.heads = 8;
  p.kvHeads = 2;
  p.headDim = 64;
  p.dtype = TSR_DTYPE_F32;
  return p;
}

TEST(CacheCall, SaysWhatIsNotSupported) {
  CacheProblem p = attention();
  EXPECT_EQ(checkCachedAttention(p), "");
  p.dtype = TSR_DTYPE_F64;
  EXPECT_EQ(checkCachedAttention(p), "cached_attention: f64 is not supported "
                                     "on device 'cuda'; use f32 or bf16");
  p = attention();
  p.headDim = 257;
  EXPECT_EQ(checkCachedAttention(p),
            "cached_attention: 257 elements of a head are too many for device "
            "'cuda'; at most 256");
  p = attention();
  p.buckets = 128;
  EXPECT_EQ(checkCachedAttention(p), "");
  p.buckets = 129;
  EXPECT_EQ(checkCachedAttention(p),
            "cached_attention: 129 buckets of distances are too many for "
            "device 'cuda'; at most 128");
  p = attention();
  p.rows = int64_t(1) << 31;
  EXPECT_EQ(checkCachedAttention(p),
            "cached_attention: 2147483648 rows are too many for device 'cuda'; "
            "at most 2147482624");
  MeansProblem m = {};
  m.ranks = 128;
  EXPECT_EQ(checkMergeMeans(m), "merge_means: 128 ranks are too many for "
                                "device 'cuda'; at most 127");
  m.dtypeIn = TSR_DTYPE_F64;
  EXPECT_NE(checkMergeMeans(m).find("f64"), std::string::npos);
  AppendProblem a = {};
  a.dtype = TSR_DTYPE_F64;
  EXPECT_NE(checkAppend(a).find("f64"), std::string::npos);
}

/// Splits are of at least 256 positions and at most 16; a window, and ranks
/// that share the places, leave fewer positions.
TEST(CacheCall, CutsPositionsBySizes) {
  const auto splits = [](int64_t places, int64_t window, int64_t deal) {
    CacheProblem p = attention();
    p.places = places;
    p.window = window;
    p.deal = deal;
    const int64_t each = 4 * p.lanes * p.rows * p.heads * (p.headDim + 1);
    return int64_t(cachedAttentionWorkspace(p)) / each;
  };
  EXPECT_EQ(splits(256, 0, 1), 0); // one writes the result itself
  EXPECT_EQ(splits(257, 0, 1), 2);
  EXPECT_EQ(splits(4096, 0, 1), 16);
  EXPECT_EQ(splits(4097, 0, 1), 13); // splits of 320 places
  EXPECT_EQ(splits(100000, 0, 1), 16);
  EXPECT_EQ(splits(4096, 300, 1), 2);
  EXPECT_EQ(splits(4096, 512, 2), 0);
  EXPECT_EQ(splits(4096, 513, 2), 2);
}

} // namespace
