//===- AttentionCall.cpp - Checks a call and makes its parameters ---------===//

#include "runtime/cuda/attention/AttentionCall.h"
#include "runtime/cuda/attention/AttentionParams.h"
#include "runtime/cuda/attention/DistanceBuckets.h"
#include "tessera/abi.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

using namespace tessera::cuda;
using tessera::PositionBuckets;

/// Positions are ints in the kernels, with room for the last tile.
static constexpr int64_t kMostPositions = (int64_t(1) << 31) - 1024;
/// Most blocks along y and z of a grid (CUDA C++ Programming Guide, "Technical
/// Specifications per Compute Capability").
static constexpr int64_t kMostBlocks = 65535;

static const char *checkSizes(const AttentionCall &c) {
  if (c.batch < 0 || c.seqQ < 0)
    return "attention: batch and seq_q must not be negative";
  if (c.heads < 1 || c.kvHeads < 1 || c.heads % c.kvHeads != 0)
    return "attention: heads must be a multiple of the key/value heads";
  if (c.seqK < 1 || c.headDim < 1)
    return "attention: needs at least 1 key and head_dim 1";
  if (c.headDim > 128)
    return "attention: head_dim is at most 128 on CUDA";
  if (c.batch > kMostBlocks || c.heads > kMostBlocks)
    return "attention: batch and heads are at most 65535 on CUDA";
  if (c.seqQ > kMostPositions || c.seqK > kMostPositions)
    return "attention: sequences have less than 2^31 - 1024 positions on CUDA";
  if (c.queryStart < 0 || c.queryStart > kMostPositions - c.seqQ)
    return "attention: query positions are from 0 to 2^31 - 1024 on CUDA";
  if (c.keysTotal != 0 && (c.keyStart < 0 || c.keysTotal > kMostPositions ||
                           c.keyStart > c.keysTotal - c.seqK))
    return "attention: the keys are no slice of at most 2^31 - 1024 positions";
  if (c.segments && c.queryStart + c.seqQ > c.queriesTotal)
    return "attention: the queries are no slice of those that have segments";
  if (c.window < 0 || (c.window > 0 && !c.causal))
    return "attention: a window is of at least 1 key, under a causal mask";
  return nullptr;
}

static PositionBuckets bucketsOf(const AttentionCall &c) {
  return {c.buckets, c.maxDistance, c.causal};
}

static const char *checkBias(const AttentionCall &c) {
  if (c.keysTotal != 0)
    return "attention: a slice of the keys with biases by distance";
  const PositionBuckets buckets = bucketsOf(c);
  if (c.buckets < 0 || buckets.exact() < 1 || c.maxDistance <= buckets.exact())
    return "attention: not enough buckets of distances, or too near";
  if (buckets.ofDirection() - buckets.exact() > kMostFarBuckets)
    return "attention: distances of one direction have at most 128 buckets on "
           "CUDA";
  if (c.queryStart + c.seqQ > kMostPositions - c.seqK)
    return "attention: with biases queries and keys have less than 2^31 - 1024 "
           "positions together on CUDA";
  return nullptr;
}

const char *tessera::cuda::checkAttention(const AttentionCall &c) {
  if (c.dtype != TSR_DTYPE_F32 && c.dtype != TSR_DTYPE_BF16)
    return "attention: the dtype on CUDA is f32 or bf16";
  if (const char *why = checkSizes(c))
    return why;
  if (c.rowQ < c.heads * c.headDim || c.rowO < c.heads * c.headDim)
    return "attention: row strides of q and o are less than heads * head_dim";
  if (c.rowK < c.kvHeads * c.headDim || c.rowV < c.kvHeads * c.headDim)
    return "attention: row strides of k and v are less than kv_heads * "
           "head_dim";
  if (!(c.dropout >= 0 && c.dropout < 1))
    return "attention: dropout is not in [0, 1)";
  return c.buckets != 0 ? checkBias(c) : nullptr;
}

const char *tessera::cuda::checkAttentionSlice(const AttentionCall &c) {
  if (c.keysTotal != 0 && !c.earlier && c.causal && c.firstQuery() < 0)
    return "attention: a query sees no key of the first slice";
  return nullptr;
}

const char *tessera::cuda::checkAttentionGradients(const AttentionCall &c) {
  if (c.rowDO < c.heads * c.headDim || c.rowDQ < c.heads * c.headDim)
    return "attention_backward: row strides of d_o and d_q are less than heads "
           "* head_dim";
  if (c.rowDK < c.kvHeads * c.headDim || c.rowDV < c.kvHeads * c.headDim)
    return "attention_backward: row strides of d_k and d_v are less than "
           "kv_heads * head_dim";
  return nullptr;
}

/// Returns the bias of a call without its buffers.
static DistanceBias biasOf(const AttentionCall &c) {
  if (c.buckets == 0)
    return {};
  DistanceBias bias = distanceBuckets(bucketsOf(c), kMostPositions);
  const int64_t furthest = c.queryStart + c.seqQ + c.seqK;
  bias.behind = int(std::min(c.maxDistance, furthest));
  bias.ahead = c.causal ? 0 : bias.behind;
  bias.row = int(c.seqQ + c.seqK - 1) + 2 * kBiasMargin;
  bias.blockRows = biasRows(c.dtype == TSR_DTYPE_BF16, c.headDim);
  bias.parts = c.batch * ((c.seqQ + bias.blockRows - 1) / bias.blockRows);
  return bias;
}

static int64_t statistics(const AttentionCall &c) {
  return c.batch * c.heads * c.seqQ;
}

/// delta, the vectors by distance, the sums.
size_t tessera::cuda::attentionWorkspace(const AttentionCall &c,
                                         bool backward) {
  const DistanceBias bias = biasOf(c);
  int64_t floats = c.heads * bias.row;
  if (backward)
    floats += statistics(c) + c.heads * bias.parts * bias.entries();
  return size_t(floats) * sizeof(float);
}

static DistanceBias withBuffers(DistanceBias bias, const AttentionCall &c,
                                const AttentionBuffers &b) {
  float *workspace = static_cast<float *>(b.workspace);
  bias.table = static_cast<const float *>(b.table);
  bias.dTable = static_cast<float *>(b.dTable);
  bias.byDistance = b.dO ? workspace + statistics(c) : workspace;
  bias.sums = bias.byDistance + c.heads * bias.row;
  return bias;
}

/// Returns whether every 16-byte piece of the rows is aligned. Absent tensors
/// are.
static bool isAligned(const TensorRows &t, int64_t perPiece) {
  return !t.data || (reinterpret_cast<uintptr_t>(t.data) % 16 == 0 &&
                     t.row % perPiece == 0);
}

static TensorRows rows(const void *data, int64_t row) {
  return {const_cast<void *>(data), row};
}

/// Returns the index of batch, head, query and key 0.
static uint64_t firstScore(const AttentionCall &c, uint64_t headScores,
                           int64_t keysTotal) {
  const uint64_t head =
      uint64_t(c.batchStart) * uint64_t(c.headsTotal) + uint64_t(c.headStart);
  return head * headScores + uint64_t(c.queryStart) * uint64_t(keysTotal) +
         uint64_t(c.keyStart);
}

/// Segments are given for all positions of which queries and keys are a slice.
static void addSegments(const AttentionCall &c, const AttentionBuffers &b,
                        AttentionParams *p) {
  const bool slice = c.isSlice();
  p->querySegments = static_cast<const int32_t *>(b.querySegments) +
                     (slice ? c.queryStart : 0);
  p->keySegments =
      static_cast<const int32_t *>(b.keySegments) + (slice ? c.keyStart : 0);
  p->querySegmentRow = slice ? c.queriesTotal : c.seqQ;
  p->keySegmentRow = slice ? c.keysTotal : c.seqK;
}

AttentionParams tessera::cuda::makeParams(const AttentionCall &c,
                                          const AttentionBuffers &b) {
  AttentionParams p{};
  p.q = rows(b.q, c.rowQ);
  p.k = rows(b.k, c.rowK);
  p.v = rows(b.v, c.rowV);
  p.o = rows(b.o, c.rowO);
  p.dO = rows(b.dO, c.rowDO);
  p.dQ = rows(b.dQ, c.rowDQ);
  p.dK = rows(b.dK, c.rowDK);
  p.dV = rows(b.dV, c.rowDV);
  p.lse = static_cast<float *>(const_cast<void *>(b.lse));
  p.delta = static_cast<float *>(b.workspace);
  if (c.buckets != 0)
    p.bias = withBuffers(biasOf(c), c, b);
  if (c.segments)
    addSegments(c, b, &p);
  p.key = c.key;
  p.headsTotal = c.headsTotal;
  p.keysTotal = c.allKeys();
  p.headScores = uint64_t(c.queriesTotal) * uint64_t(p.keysTotal);
  p.firstScore = firstScore(c, p.headScores, p.keysTotal);
  p.slice = c.isSlice();
  p.earlier = c.earlier;
  p.earlierKeys = c.earlierKeys;
  p.queryStart = int(c.firstQuery());
  p.window = int(c.activeWindow());
  p.batch = int(c.batch);
  p.heads = int(c.heads);
  p.kvHeads = int(c.kvHeads);
  p.seqQ = int(c.seqQ);
  p.seqK = int(c.seqK);
  p.headDim = int(c.headDim);
  p.causal = c.causal;
  p.scale = float(c.scale);
  p.scaleLog2 = float(c.scale * 1.4426950408889634);
  p.dropout = c.dropout > 0;
  p.keepScale = float(1 / (1 - c.dropout));
  // The CPU keeps a score where word >= ceil(p 2^32), which is at least 1 here.
  if (p.dropout)
    p.lastDropped = uint32_t(uint64_t(std::ceil(c.dropout * 4294967296.0)) - 1);
  const int64_t piece = c.dtype == TSR_DTYPE_BF16 ? 8 : 4;
  p.aligned = c.headDim % piece == 0;
  for (const TensorRows &t : {p.q, p.k, p.v, p.o, p.dO, p.dQ, p.dK, p.dV})
    p.aligned = p.aligned && isAligned(t, piece);
  return p;
}
