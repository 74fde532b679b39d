//===- Bf16Forward.h - Attention forward on tensor cores --------*- C++ -*-===//
// FlashAttention-2 (Dao 2023), algorithm 1: a block owns `kRows` queries of a
// head and streams keys and values through two stages of shared memory. Warps
// share the queries, not the keys, so that no reduction crosses warps (section
// 3.3). The sum is divided once, at the end (section 3.1).
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_ATTENTION_BF16FORWARD_H
#define TESSERA_RUNTIME_CUDA_ATTENTION_BF16FORWARD_H

#include "runtime/cuda/attention/BackwardPlan.h"
#include "runtime/cuda/attention/Bf16Rows.h"
#include "runtime/cuda/attention/Bf16Tile.h"
#include "runtime/cuda/attention/DropoutMask.h"
#include "runtime/cuda/attention/SegmentTiles.h"

namespace tessera::cuda {

/// D: head_dim, padded. Drop: with dropout. Two row tiles per warp halve the
/// reads of shared memory per product; the counters of dropout leave registers
/// for one. Tile sizes are the largest for which ptxas spills nothing (sm_90).
template <int D, bool Drop, Form F> struct Bf16Forward {
  static constexpr int kMTiles = Drop ? 1 : 2;
  static constexpr int kWarps = 8 / kMTiles;
  static constexpr int kThreads = kWarps * kWarp;
  static constexpr int kRows = kWarps * kMTiles * 16;
  static constexpr bool kAddsBias = hasBias(F);
  static constexpr int kKeys =
      (D == 128 && !Drop) || (D == 64 && Drop && F != Form::Plain) ? 32 : 64;
  static constexpr int kMinBlocks = D == 64 ? 2 : 1;
  static constexpr int kTileBytes = kKeys * D * 2, kQueryBytes = kRows * D * 2;
  static constexpr int kSharedBytes = kQueryBytes + 4 * kTileBytes;

  static Grid grid(const AttentionParams &p) {
    return {ceilDiv(p.seqQ, kRows), p.heads, p.batch};
  }

  /// Per row of the lane: the running maximum and this lane's part of the sum.
  struct State {
    Sums<kMTiles, D / 8> out;
    float top[kMTiles][2], sum[kMTiles][2];
  };
  using Scores = Sums<kMTiles, kKeys / 8>;

  struct Block {
    int batch, head, keyHead, query; /* query: the block's first */
    int warpRow;                     /* the warp's first row in the tile */
  };

  template <typename Exec>
  static TSR_DEVICE void run(const AttentionParams &p, unsigned char *shared) {
    const int head = Exec::blockY();
    const Block block = {
        Exec::blockZ(), head, head / p.group(),
        queryTileOf(p, Exec::blockX(), ceilDiv(p.seqQ, kRows)) * kRows,
        Exec::thread() / kWarp * kMTiles * 16};
    unsigned char *stages = shared + kQueryBytes;
    const TileRange tiles = keyTiles(planeOf(p), block.query, kRows, kKeys);
    if (isSlice(F) && p.earlier && tiles.count() == 0)
      return;
    const auto met = SegmentTiles<F, Side::Queries>::template start<Exec>(
        p, block.batch, block.query, kRows);
    const auto from = [&](int tile) {
      while (tile < tiles.end &&
             met.template leavesOut<Exec>(tile * kKeys, kKeys))
        ++tile;
      return tile;
    };

    loadTile<Exec, kRows, D, kThreads>(
        shared, queryView<const uint16_t>(p, p.q, block.batch, block.head,
                                          block.query));
    int tile = from(tiles.begin);
    if (tile < tiles.end)
      loadStage<Exec>(p, block, tile * kKeys, stages);
    State state;
    start(state);
    if (isSlice(F) && p.earlier)
      startEarlier<Exec>(p, block, state);
    DropoutMask mask = {};
    if (Drop)
      mask = dropoutMask(p, block.batch, block.head);
    TSR_NO_UNROLL
    for (int stage = 0; tile < tiles.end; stage ^= 1) {
      const int next = from(tile + 1);
      // After this barrier the tile is there and its predecessor is not read
      // any more.
      Exec::copyWait();
      Exec::barrier();
      if (next < tiles.end)
        loadStage<Exec>(p, block, next * kKeys,
                        stages + (stage ^ 1) * 2 * kTileBytes);
      step<Exec>(p, block, mask, tile * kKeys, shared,
                 stages + stage * 2 * kTileBytes, state);
      tile = next;
    }
    finish<Exec>(p, block, state, shared);
  }

private:
  template <typename Exec>
  static TSR_DEVICE void loadStage(const AttentionParams &p, const Block &block,
                                   int key, unsigned char *stage) {
    loadTile<Exec, kKeys, D, kThreads>(
        stage,
        keyView<const uint16_t>(p, p.k, block.batch, block.keyHead, key));
    loadTile<Exec, kKeys, D, kThreads>(
        stage + kTileBytes,
        keyView<const uint16_t>(p, p.v, block.batch, block.keyHead, key));
  }

  static TSR_DEVICE void start(State &state) {
    clear(state.out);
    TSR_UNROLL
    for (int m = 0; m < kMTiles; ++m)
      TSR_UNROLL
    for (int half = 0; half < 2; ++half) {
      state.top[m][half] = -__builtin_huge_valf();
      state.sum[m][half] = 0;
    }
  }

  /// Starts as if the maximum of earlier scores were their log-sum-exp: their
  /// sum is 1 then, which one lane of a row has.
  template <typename Exec>
  static TSR_DEVICE void startEarlier(const AttentionParams &p,
                                      const Block &block, State &state) {
    loadRows<Exec, D>(state.out, 1 / p.keepScale,
                      outputOf<const float>(p, block), block.warpRow);
    const int lane = Exec::thread() % kWarp;
    TSR_UNROLL
    for (int m = 0; m < kMTiles; ++m)
      TSR_UNROLL
    for (int half = 0; half < 2; ++half) {
      const int query = queryOf(block, lane, m, half * 2);
      if (query < p.seqQ)
        state.top[m][half] =
            p.lse[p.statistic(block.batch, block.head, query)] * kLog2E;
      state.sum[m][half] = lane % 4 == 0 ? 1 : 0;
    }
  }

  template <typename T>
  static TSR_DEVICE TileView<T> outputOf(const AttentionParams &p,
                                         const Block &block) {
    return queryView<T>(p, p.o, block.batch, block.head, block.query);
  }

  template <typename Exec>
  static TSR_DEVICE void step(const AttentionParams &p, const Block &block,
                              const DropoutMask &mask, int key,
                              const unsigned char *queries,
                              const unsigned char *stage, State &state) {
    Scores s;
    productOfRows<Exec, D>(s, queries, block.warpRow, stage);
    scaleScores(p, s);
    if (kAddsBias)
      addBias<Exec>(p, block, key, s);
    if (isMasked(F) || needsMask(planeOf(p), block.query, kRows, key, kKeys))
      hideScores<Exec>(p, block, key, s);
    softmax<Exec>(p, s, state);
    if (Drop)
      dropScores<Exec>(block, mask, key, s);
    Operand<kMTiles, kKeys / 16> probabilities;
    toOperand<Exec>(s, probabilities);
    addProduct<Exec, D>(state.out, probabilities, stage + kTileBytes);
  }

  static TSR_DEVICE void scaleScores(const AttentionParams &p, Scores &s) {
    TSR_UNROLL
    for (int m = 0; m < kMTiles; ++m)
      TSR_UNROLL
    for (int n = 0; n < kKeys / 8; ++n)
      TSR_UNROLL
    for (int e = 0; e < 4; ++e)
      s.at[m][n][e] *= p.scaleLog2;
  }

  /// Elements of a diagonal of 8 x 8 pieces share their biases.
  template <typename Exec>
  static TSR_DEVICE void addBias(const AttentionParams &p, const Block &block,
                                 int key, Scores &s) {
    const int lane = Exec::thread() % kWarp;
    const float *bias = p.biasAt(block.head, queryOf(block, lane, 0, 0),
                                 key + accumulatorColumn(lane, 0));
    TSR_UNROLL
    for (int diagonal = 1 - kKeys / 8; diagonal < 2 * kMTiles; ++diagonal)
      TSR_UNROLL
    for (int odd = 0; odd < 2; ++odd) {
      const float b = Exec::loadConstant(bias + diagonal * 8 - odd);
      TSR_UNROLL
      for (int row = 0; row < 2 * kMTiles; ++row) {
        const int n = row - diagonal;
        if (n >= 0 && n < kKeys / 8)
          s.at[row / 2][n][row % 2 * 2 + odd] += b;
      }
    }
  }

  /// Hides scores of keys alone: rows of queries that do not exist are not
  /// stored.
  template <typename Exec>
  static TSR_DEVICE void hideScores(const AttentionParams &p,
                                    const Block &block, int key, Scores &s) {
    const int lane = Exec::thread() % kWarp;
    TSR_UNROLL
    for (int m = 0; m < kMTiles; ++m)
      TSR_UNROLL
    for (int n = 0; n < kKeys / 8; ++n)
      TSR_UNROLL
    for (int e = 0; e < 4; ++e) {
      const int query = queryOf(block, lane, m, e);
      const int t = key + n * 8 + accumulatorColumn(lane, e);
      if (isHidden<F>(p, block.batch, query, t))
        s.at[m][n][e] = -__builtin_huge_valf();
    }
  }

  /// Dropped after they have been summed, as the definition wants.
  template <typename Exec>
  static TSR_DEVICE void dropScores(const Block &block, const DropoutMask &mask,
                                    int key, Scores &s) {
    const int lane = Exec::thread() % kWarp;
    TSR_UNROLL
    for (int m = 0; m < kMTiles; ++m)
      TSR_UNROLL
    for (int n = 0; n < kKeys / 8; ++n)
      TSR_UNROLL
    for (int e = 0; e < 4; ++e)
      if (!mask.keeps(queryOf(block, lane, m, e),
                      key + n * 8 + accumulatorColumn(lane, e)))
        s.at[m][n][e] = 0;
  }

  static TSR_DEVICE int queryOf(const Block &block, int lane, int m, int e) {
    return block.query + block.warpRow + m * 16 + accumulatorRow(lane, e);
  }

  /// Scores become 2^(score - maximum). Without a window or segments every
  /// query sees key 0, which the first tile holds, so the maximum is -inf only
  /// where all scores so far are; then the result is NaN, as on the CPU.
  template <typename Exec>
  static TSR_DEVICE void softmax(const AttentionParams &p, Scores &s,
                                 State &state) {
    TSR_UNROLL
    for (int m = 0; m < kMTiles; ++m)
      TSR_UNROLL
    for (int half = 0; half < 2; ++half) {
      float top = state.top[m][half];
      TSR_UNROLL
      for (int n = 0; n < kKeys / 8; ++n)
        top = Exec::maximum(
            top, Exec::maximum(s.at[m][n][half * 2], s.at[m][n][half * 2 + 1]));
      top = Exec::maximum(top, Exec::shuffleXor(top, 1));
      top = Exec::maximum(top, Exec::shuffleXor(top, 2));
      const float base = subtrahendOf<Exec, F>(p, top);
      const float decay = Exec::exp2(state.top[m][half] - base);
      float sum = 0;
      TSR_UNROLL
      for (int n = 0; n < kKeys / 8; ++n)
        TSR_UNROLL
      for (int e = half * 2; e < half * 2 + 2; ++e) {
        s.at[m][n][e] = Exec::exp2(s.at[m][n][e] - base);
        sum += s.at[m][n][e];
      }
      state.top[m][half] = top;
      state.sum[m][half] = state.sum[m][half] * decay + sum;
      TSR_UNROLL
      for (int n = 0; n < D / 8; ++n) {
        state.out.at[m][n][half * 2] *= decay;
        state.out.at[m][n][half * 2 + 1] *= decay;
      }
    }
  }

  template <typename Exec>
  static TSR_DEVICE void finish(const AttentionParams &p, const Block &block,
                                State &state, unsigned char *shared) {
    const int lane = Exec::thread() % kWarp;
    Exec::copyWait(); // without a tile nobody has
    float factor[kMTiles][2];
    TSR_UNROLL
    for (int m = 0; m < kMTiles; ++m)
      TSR_UNROLL
    for (int half = 0; half < 2; ++half) {
      float sum = state.sum[m][half];
      sum += Exec::shuffleXor(sum, 1);
      sum += Exec::shuffleXor(sum, 2);
      factor[m][half] = sum == 0 ? 0 : p.keepScale / sum;
      const int query = queryOf(block, lane, m, half * 2);
      if (lane % 4 == 0 && query < p.seqQ)
        p.lse[p.statistic(block.batch, block.head, query)] =
            (state.top[m][half] + Exec::log2(sum)) * kLn2;
    }
    if (isSlice(F))
      return storeRows<Exec, D, false>(
          state.out, factor, outputOf<float>(p, block), block.warpRow);
    // The queries' tile becomes the output's.
    Exec::barrier();
    storeFragments<Exec, D>(state.out, factor, shared, block.warpRow);
    Exec::barrier();
    storeTile<Exec, kRows, D, kThreads>(shared, outputOf<uint16_t>(p, block));
  }
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_ATTENTION_BF16FORWARD_H
