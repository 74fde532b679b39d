//===- CallTest.cpp - What a call may ask for -----------------------------===//

#include "runtime/cuda/attention/AttentionParams.h"
#include "tessera/abi.h"

#include <gtest/gtest.h>

using namespace tessera::cuda;

static AttentionCall plainCall() {
  AttentionCall c{};
  c.batch = 2;
  c.heads = c.headsTotal = 4;
  c.kvHeads = 2;
  c.seqQ = c.seqK = c.queriesTotal = 64;
  c.headDim = 64;
  c.rowQ = c.rowO = c.rowDQ = c.rowDO = 256;
  c.rowK = c.rowV = c.rowDK = c.rowDV = 128;
  c.scale = 0.125;
  c.dtype = TSR_DTYPE_BF16;
  return c;
}

TEST(AttentionCall, AcceptsWhatTheAbiDescribes) {
  AttentionCall c = plainCall();
  EXPECT_STREQ(checkAttention(c), nullptr);
  EXPECT_STREQ(checkAttentionGradients(c), nullptr);
  c.batch = c.seqQ = 0;
  EXPECT_STREQ(checkAttention(c), nullptr);
}

TEST(AttentionCall, RefusesWithAReason) {
  const auto why = [](auto change) {
    AttentionCall c = plainCall();
    change(c);
    const char *reason = checkAttention(c);
    return std::string(reason ? reason : "");
  };
  EXPECT_EQ(why([](AttentionCall &c) { c.dtype = TSR_DTYPE_F64; }),
            "attention: the dtype on CUDA is f32 or bf16");
  EXPECT_EQ(why([](AttentionCall &c) { c.kvHeads = 3; }),
            "attention: heads must be a multiple of the key/value heads");
  EXPECT_EQ(why([](AttentionCall &c) { c.seqK = 0; }),
            "attention: needs at least 1 key and head_dim 1");
  EXPECT_EQ(why([](AttentionCall &c) { c.headDim = 129; }),
            "attention: head_dim is at most 128 on CUDA");
  EXPECT_EQ(why([](AttentionCall &c) { c.batch = 65536; }),
            "attention: batch and heads are at most 65535 on CUDA");
  EXPECT_EQ(why([](AttentionCall &c) { c.rowQ = 255; }),
            "attention: row strides of q and o are less than heads * head_dim");
  EXPECT_EQ(why([](AttentionCall &c) { c.rowV = 127; }),
            "attention: row strides of k and v are less than kv_heads * "
            "head_dim");
  EXPECT_EQ(why([](AttentionCall &c) { c.dropout = 1; }),
            "attention: dropout is not in [0, 1)");
  EXPECT_EQ(why([](AttentionCall &c) { c.queryStart = -1; }),
            "attention: query positions are from 0 to 2^31 - 1024 on CUDA");
  EXPECT_EQ(why([](AttentionCall &c) { c.buckets = 3, c.maxDistance = 9; }),
            "attention: not enough buckets of distances, or too near");
  EXPECT_EQ(why([](AttentionCall &c) { c.buckets = 258, c.maxDistance = 999; }),
            "attention: distances of one direction have at most 128 buckets on "
            "CUDA");
  EXPECT_EQ(why([](AttentionCall &c) {
              c.buckets = 32, c.maxDistance = 128, c.seqQ = c.seqK = 1 << 30;
            }),
            "attention: with biases queries and keys have less than 2^31 - "
            "1024 positions together on CUDA");
  EXPECT_EQ(why([](AttentionCall &c) { c.keyStart = 1, c.keysTotal = 64; }),
            "attention: the keys are no slice of at most 2^31 - 1024 "
            "positions");
  const char *window = "attention: a window is of at least 1 key, under a "
                       "causal mask";
  EXPECT_EQ(why([](AttentionCall &c) { c.window = 3; }), window);
  EXPECT_EQ(why([](AttentionCall &c) { c.causal = true, c.window = -1; }),
            window);
  EXPECT_EQ(why([](AttentionCall &c) {
              c.segments = true, c.queryStart = 1, c.queriesTotal = 64;
            }),
            "attention: the queries are no slice of those that have segments");
  AttentionCall hidden = plainCall();
  hidden.causal = true;
  hidden.keyStart = 64;
  hidden.keysTotal = 128;
  hidden.queryStart = 0; // 64 positions before the slice
  EXPECT_STREQ(checkAttention(hidden), nullptr);
  EXPECT_STREQ(checkAttentionSlice(hidden),
               "attention: a query sees no key of the first slice");
  hidden.earlier = true;
  EXPECT_STREQ(checkAttentionSlice(hidden), nullptr);
  AttentionCall c = plainCall();
  c.rowDK = 100;
  EXPECT_STREQ(checkAttentionGradients(c),
               "attention_backward: row strides of d_k and d_v are less than "
               "kv_heads * head_dim");
}

/// A call is checked before the address of its key is known.
TEST(AttentionCall, IsAcceptedBeforeItHasItsKey) {
  uint64_t key = 0;
  AttentionCall c = plainCall();
  EXPECT_FALSE(c.lacksKey());
  c.dropout = 0.5;
  EXPECT_STREQ(checkAttention(c), nullptr);
  EXPECT_TRUE(c.lacksKey());
  c.key = &key;
  EXPECT_FALSE(c.lacksKey());
}

TEST(AttentionCall, WorkspaceIsOneFloatPerRowInBackward) {
  EXPECT_EQ(attentionWorkspace(plainCall(), false), 0u);
  EXPECT_EQ(attentionWorkspace(plainCall(), true), 2u * 4 * 64 * 4);
}

/// The distances of 64 queries and 64 keys with 128 on either side; in backward
/// the sums of two blocks, each of 95 diagonals twice and 127 distances.
TEST(AttentionCall, WorkspaceOfABiasIsLinearInTheSequence) {
  AttentionCall c = plainCall();
  c.buckets = 32;
  c.maxDistance = 64;
  const size_t vectors = 4 * (64 + 63 + 256) * 4;
  EXPECT_EQ(attentionWorkspace(c, false), vectors);
  EXPECT_EQ(attentionWorkspace(c, true),
            2u * 4 * 64 * 4 + vectors + 4u * 2 * (2 * 95 + 127) * 4);
}

TEST(AttentionParams, KnowWhetherRowsAreAligned) {
  alignas(16) static uint16_t memory[8];
  AttentionCall c = plainCall();
  AttentionBuffers b = {};
  b.q = b.k = b.v = b.o = memory;
  EXPECT_TRUE(makeParams(c, b).aligned);
  c.rowK = 129;
  EXPECT_FALSE(makeParams(c, b).aligned);
  c = plainCall();
  b.v = memory + 1;
  EXPECT_FALSE(makeParams(c, b).aligned);
  b.v = memory;
  c.headDim = 60;
  EXPECT_FALSE(makeParams(c, b).aligned);
}

/// Kernels of windows test more: only where some query has one that is full.
TEST(AttentionParams, KnowWhetherTheWindowHidesKeys) {
  AttentionCall c = plainCall();
  c.causal = true;
  c.window = 63;
  EXPECT_EQ(makeParams(c, {}).window, 63);
  c.window = 64;
  EXPECT_EQ(makeParams(c, {}).window, 0);
  c.queryStart = 1;
  EXPECT_EQ(makeParams(c, {}).window, 64);
  c.keyStart = 1, c.keysTotal = 65; // counted from the first key of the slice
  EXPECT_EQ(makeParams(c, {}).window, 0);
}

/// The last word that is dropped, at the ends and around a representable p.
TEST(AttentionParams, ThresholdIsTheCpus) {
  uint64_t key = 0;
  AttentionCall c = plainCall();
  c.key = &key;
  const auto last = [&](double p) {
    c.dropout = p;
    return makeParams(c, {}).lastDropped;
  };
  EXPECT_EQ(last(0.5), 0x7fffffffu);
  EXPECT_EQ(last(1e-300), 0u);
  EXPECT_EQ(last(0.25 + 1e-12), 0x40000000u);
  EXPECT_EQ(last(1 - 1e-16), 0xffffffffu);
}
