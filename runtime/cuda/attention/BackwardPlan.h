//===- BackwardPlan.h - What a block of backward walks over -----*- C++ -*-===//
// Backward runs twice over the plane of scores, so that no two blocks add to
// the same gradient and the order of additions is fixed: once with blocks that
// own queries and stream keys (d_q), once with blocks that own keys and stream
// the queries of every head that shares them (d_k, d_v). The other side of the
// same five products (Dao 2023, algorithm 2), so both are one kernel body.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_ATTENTION_BACKWARDPLAN_H
#define TESSERA_RUNTIME_CUDA_ATTENTION_BACKWARDPLAN_H

#include "runtime/cuda/attention/AttentionParams.h"
#include "runtime/cuda/attention/TileRange.h"

namespace tessera::cuda {

/// The side that a block owns. The other side is streamed.
enum class Side { Queries, Keys };

/// One streamed tile: its query head and its first position.
struct BackwardStep {
  int head, first;
};

/// The steps of the block that owns positions [first, first + rows) of the
/// `ownHead`-th head of its side; streamed in tiles of `tile`.
struct BackwardPlan {
  TileRange tiles;
  int firstHead, heads; /* query heads, in this order */
  int keyHead;
  int tile;

  TSR_HOST_DEVICE constexpr int steps() const { return tiles.count() * heads; }
  TSR_HOST_DEVICE constexpr BackwardStep step(int i) const {
    return {firstHead + i / tiles.count(),
            (tiles.begin + i % tiles.count()) * tile};
  }
};

TSR_HOST_DEVICE constexpr ScorePlane planeOf(const AttentionParams &p) {
  return {p.seqQ, p.seqK, p.causal, p.queryStart, p.window};
}

template <Side S>
TSR_HOST_DEVICE constexpr BackwardPlan backwardPlan(const AttentionParams &p,
                                                    int ownHead, int first,
                                                    int rows, int tile) {
  const int group = p.heads / p.kvHeads;
  if (S == Side::Queries)
    return {keyTiles(planeOf(p), first, rows, tile), ownHead, 1,
            ownHead / group, tile};
  return {queryTiles(planeOf(p), first, rows, tile), ownHead * group, group,
          ownHead, tile};
}

/// Returns the tile of queries that block x owns. Under causality later queries
/// see more keys: they start first, so that short blocks fill the end of the
/// grid.
TSR_HOST_DEVICE constexpr int queryTileOf(const AttentionParams &p, int block,
                                          int blocks) {
  return p.causal ? blocks - 1 - block : block;
}

/// Returns the number that is subtracted for a running maximum. For queries
/// that have seen no key, which a window and segments leave behind, it is 0, so
/// that hidden scores become 2^-inf.
template <typename Exec, Form F>
TSR_DEVICE float subtrahendOf(const AttentionParams &p, float top) {
  const bool mayHideRows = isMasked(F) || p.window != 0;
  return mayHideRows && top == -__builtin_huge_valf() ? 0.0f : top;
}

/// The gradient of one score; see gradientOf.
struct ScoreGradient {
  float probability; /* zero where dropped; 1/(1-p) is applied to d_v */
  float dScore;      /* gradient of the scaled score */
};

/// The bias is times log2(e), and 0 for forms without.
/// From score s (not scaled) and dP = dO . V: P = 2^(s scale log2 e - lse log2
/// e), dS = P (M dP - delta) with M the dropout factor (Dao 2023, section
/// 3.1.2). Where nothing is seen both are zero, whatever padding holds.
template <typename Exec, Form F>
TSR_DEVICE ScoreGradient gradientOf(const AttentionParams &p, float s,
                                    float bias, float dP, float lse,
                                    float delta, bool seen, bool kept) {
  float power = s * p.scaleLog2 - lse * kLog2E;
  if (hasBias(F))
    power += bias;
  const float e = Exec::exp2(power);
  const float dS = e * ((kept ? dP * p.keepScale : 0.0f) - delta);
  return {seen && kept ? e : 0.0f, seen ? dS : 0.0f};
}

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_ATTENTION_BACKWARDPLAN_H
