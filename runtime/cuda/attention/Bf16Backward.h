//===- Bf16Backward.h - Attention backward on tensor cores ------*- C++ -*-===//
// FlashAttention-2 (Dao 2023), algorithm 2, from the side of the queries (d_q)
// or of the keys (d_k, d_v), see BackwardPlan.h. A block owns rows of two
// tensors and streams two others; with X, X' its own and Y, Y' the streamed:
//                      X   X'   Y   Y'   first += dS Y   second += P Y'
//   Side::Queries      Q   dO   K   V    d_q             -
//   Side::Keys         K   V    Q   dO   d_k             d_v
// S = X Y^T and dP = X' Y'^T have owned positions as rows, so P and dS are left
// operands as they come out of the tensor cores.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_ATTENTION_BF16BACKWARD_H
#define TESSERA_RUNTIME_CUDA_ATTENTION_BF16BACKWARD_H

#include "runtime/cuda/attention/BackwardPlan.h"
#include "runtime/cuda/attention/Bf16Rows.h"
#include "runtime/cuda/attention/Bf16Tile.h"
#include "runtime/cuda/attention/DiagonalSums.h"
#include "runtime/cuda/attention/DropoutMask.h"
#include "runtime/cuda/attention/SegmentTiles.h"

namespace tessera::cuda {

template <int D, Side S, bool Drop, Form F> struct Bf16Backward {
  static constexpr bool kOwnsKeys = S == Side::Keys;
  static constexpr bool kAddsBias = hasBias(F);
  static constexpr bool kSumsBias = kAddsBias && !kOwnsKeys;
  /// For head_dim 64 chosen so that 12 or 16 warps fit a multiprocessor without
  /// a spill (sm_90); for 128 the accumulators leave room for 8.
  static constexpr bool kSmall = D == 64 && (kOwnsKeys || kAddsBias);
  static constexpr int kMTiles = 1, kWarps = kSmall ? 4 : 8;
  static constexpr int kMinBlocks = D == 128 ? 1 : kSmall ? 3 : 2;
  static constexpr int kThreads = kWarps * kWarp;
  static constexpr int kRows = kWarps * kMTiles * 16;
  static constexpr int kStream = 32;
  static constexpr int kOwnBytes = kRows * D * 2, kTileBytes = kStream * D * 2;
  /// Lse and delta of the streamed queries of one stage.
  static constexpr int kStatistics = kOwnsKeys ? kStream * 2 : 0;
  static constexpr int kStageBytes = 2 * kTileBytes + kStatistics * 4;
  /// Scores that are summed along diagonals, which the pitch lays into other
  /// banks: an odd one, and 9 so that a warp's rows meet at most twice.
  static constexpr int kPitch = kStream + 9;
  static constexpr int kScoreBytes = kSumsBias ? kRows * kPitch * 4 : 0;
  static constexpr int kStages = 2 * kOwnBytes, kStagesBytes = 2 * kStageBytes;
  static constexpr int kSharedBytes = kStages + kStagesBytes + kScoreBytes;
  static_assert(!kSumsBias || kRows == biasRows(true, D), "");
  static_assert(kStream == kBiasStream, "");
  using BiasSums = DiagonalSums<kRows, kPitch, kThreads>;

  static Grid grid(const AttentionParams &p) {
    return {ceilDiv(kOwnsKeys ? p.seqK : p.seqQ, kRows),
            kOwnsKeys ? p.kvHeads : p.heads, p.batch};
  }

  struct Block {
    int batch, ownHead, own; /* own: the first owned position */
    int warpRow;             /* the warp's first row in the owned tiles */
  };
  using Scores = Sums<kMTiles, kStream / 8>;
  struct State {
    Sums<kMTiles, D / 8> first, second;
    float lse[kMTiles][2], delta[kMTiles][2]; /* for owned queries */
  };

  template <typename Exec>
  static TSR_DEVICE void run(const AttentionParams &p, unsigned char *shared) {
    const int tile =
        kOwnsKeys ? Exec::blockX()
                  : queryTileOf(p, Exec::blockX(), ceilDiv(p.seqQ, kRows));
    const Block block = {Exec::blockZ(), Exec::blockY(), tile * kRows,
                         Exec::thread() / kWarp * kMTiles * 16};
    const BackwardPlan plan =
        backwardPlan<S>(p, block.ownHead, block.own, kRows, kStream);
    if (plan.steps() == 0 && addsToEarlier(p))
      return;
    unsigned char *stages = shared + kStages;
    loadOwn<Exec>(p, block, shared);
    const auto met = SegmentTiles<F, S>::template start<Exec>(p, block.batch,
                                                              block.own, kRows);
    const int steps = plan.steps();
    const auto from = [&](int i) {
      while (i < steps &&
             met.template leavesOut<Exec>(plan.step(i).first, kStream))
        ++i;
      return i;
    };
    int i = from(0);
    if (i < steps)
      loadStage<Exec>(p, block, plan, plan.step(i), stages);
    State state;
    start(p, block, Exec::thread() % kWarp, state);
    DropoutMask mask = {};
    if (Drop)
      mask = dropoutMask(p, block.batch, plan.firstHead);
    float *scores = reinterpret_cast<float *>(stages + kStagesBytes);
    BiasSums sums = {};
    if (kSumsBias)
      sums = BiasSums::template start<Exec>(p, block.batch, block.ownHead,
                                            block.own);
    TSR_NO_UNROLL
    for (int stage = 0; i < steps; stage ^= 1) {
      const int next = from(i + 1);
      // After this barrier step i is there and the one before is not read any
      // more.
      Exec::copyWait();
      Exec::barrier();
      if (next < steps)
        loadStage<Exec>(p, block, plan, plan.step(next),
                        stages + (stage ^ 1) * kStageBytes);
      const BackwardStep at = plan.step(i);
      if (Drop && kOwnsKeys)
        mask.firstIndex = scoreIndex(p, block.batch, at.head, 0, 0);
      const float biasSum =
          kSumsBias ? sums.template read<Exec>(p, at.first) : 0;
      step<Exec>(p, block, mask, at, shared, stages + stage * kStageBytes,
                 scores, state);
      if (kSumsBias) {
        Exec::barrier();
        sums.template add<Exec>(p, at.first, biasSum, scores);
      }
      i = next;
    }
    finish<Exec>(p, block, state, shared);
  }

private:
  /// Rows of own tensors from the block's first position on.
  template <typename T>
  static TSR_DEVICE TileView<T> ownView(const AttentionParams &p,
                                        const Block &block,
                                        const TensorRows &tensor) {
    return kOwnsKeys
               ? keyView<T>(p, tensor, block.batch, block.ownHead, block.own)
               : queryView<T>(p, tensor, block.batch, block.ownHead, block.own);
  }

  template <typename Exec>
  static TSR_DEVICE void loadOwn(const AttentionParams &p, const Block &block,
                                 unsigned char *tiles) {
    loadTile<Exec, kRows, D, kThreads>(
        tiles, ownView<const uint16_t>(p, block, kOwnsKeys ? p.k : p.q));
    loadTile<Exec, kRows, D, kThreads>(
        tiles + kOwnBytes,
        ownView<const uint16_t>(p, block, kOwnsKeys ? p.v : p.dO));
  }

  template <typename Exec>
  static TSR_DEVICE void loadStage(const AttentionParams &p, const Block &block,
                                   const BackwardPlan &plan,
                                   const BackwardStep &at,
                                   unsigned char *stage) {
    const auto view = [&](const TensorRows &tensor) {
      return kOwnsKeys ? queryView<const uint16_t>(p, tensor, block.batch,
                                                   at.head, at.first)
                       : keyView<const uint16_t>(p, tensor, block.batch,
                                                 plan.keyHead, at.first);
    };
    loadTile<Exec, kStream, D, kThreads>(stage, view(kOwnsKeys ? p.q : p.k));
    loadTile<Exec, kStream, D, kThreads>(stage + kTileBytes,
                                         view(kOwnsKeys ? p.dO : p.v));
    const int i = Exec::thread();
    if (!kOwnsKeys || i >= kStatistics)
      return;
    const int query = at.first + i % kStream;
    const float *from = i < kStream ? p.lse : p.delta;
    const bool exists = query < p.seqQ;
    Exec::template copyAsync<4>(
        stage + 2 * kTileBytes + i * 4,
        from + p.statistic(block.batch, at.head, exists ? query : 0), exists);
  }

  static TSR_DEVICE void start(const AttentionParams &p, const Block &block,
                               int lane, State &state) {
    clear(state.first);
    clear(state.second);
    TSR_UNROLL
    for (int m = 0; m < kMTiles; ++m)
      TSR_UNROLL
    for (int half = 0; half < 2; ++half) {
      const int query = ownPosition(block, lane, m, half * 2);
      const bool reads = !kOwnsKeys && query < p.seqQ;
      const int64_t at = p.statistic(block.batch, block.ownHead, query);
      state.lse[m][half] = reads ? p.lse[at] : 0;
      state.delta[m][half] = reads ? p.delta[at] : 0;
    }
  }

  static TSR_DEVICE int ownPosition(const Block &block, int lane, int m,
                                    int e) {
    return block.own + block.warpRow + m * 16 + accumulatorRow(lane, e);
  }

  template <typename Exec>
  static TSR_DEVICE void
  step(const AttentionParams &p, const Block &block, const DropoutMask &mask,
       const BackwardStep &at, const unsigned char *own,
       const unsigned char *stage, float *scores, State &state) {
    const int first = at.first;
    Scores s, dP;
    productOfRows<Exec, D>(s, own, block.warpRow, stage);
    productOfRows<Exec, D>(dP, own + kOwnBytes, block.warpRow,
                           stage + kTileBytes);
    const float *statistics =
        reinterpret_cast<const float *>(stage + 2 * kTileBytes);
    const bool masked =
        isMasked(F) ||
        (kOwnsKeys ? needsMask(planeOf(p), first, kStream, block.own, kRows)
                   : needsMask(planeOf(p), block.own, kRows, first, kStream));
    if (masked)
      gradients<Exec, true>(p, block, mask, at, statistics, state, s, dP);
    else
      gradients<Exec, false>(p, block, mask, at, statistics, state, s, dP);
    if (kSumsBias)
      storeScores<Exec>(block, dP, scores);
    Operand<kMTiles, kStream / 16> left;
    if (kOwnsKeys) {
      toOperand<Exec>(s, left);
      addProduct<Exec, D>(state.second, left, stage + kTileBytes);
    }
    toOperand<Exec>(dP, left);
    addProduct<Exec, D>(state.first, left, stage);
  }

  /// Replaces scores and dP by P (zero where dropped) and dS.
  template <typename Exec, bool Masked>
  static TSR_DEVICE void gradients(const AttentionParams &p, const Block &block,
                                   const DropoutMask &mask,
                                   const BackwardStep &at,
                                   const float *statistics, const State &state,
                                   Scores &s, Scores &dP) {
    const int lane = Exec::thread() % kWarp, first = at.first;
    const float *bias = nullptr; /* at the lane's first element */
    if (kAddsBias)
      bias = biasOf(p, block, at, lane);
    TSR_UNROLL
    for (int n = 0; n < kStream / 8; ++n)
      TSR_UNROLL
    for (int odd = 0; odd < 2; ++odd) {
      const int column = n * 8 + accumulatorColumn(lane, odd);
      float lse = 0, delta = 0;
      if (kOwnsKeys) {
        lse = Exec::loadShared(statistics + column);
        delta = Exec::loadShared(statistics + kStream + column);
      }
      TSR_UNROLL
      for (int m = 0; m < kMTiles; ++m)
        TSR_UNROLL
      for (int half = 0; half < 2; ++half) {
        const int e = half * 2 + odd, streamed = first + column;
        const int own = ownPosition(block, lane, m, e);
        const int query = kOwnsKeys ? streamed : own;
        const int key = kOwnsKeys ? own : streamed;
        float b = 0;
        if (kAddsBias)
          b = Exec::loadConstant(bias + (kOwnsKeys ? 1 : -1) *
                                            (n * 8 + odd - m * 16 - half * 8));
        const ScoreGradient g = gradientOf<Exec, F>(
            p, s.at[m][n][e], b, dP.at[m][n][e],
            kOwnsKeys ? lse : state.lse[m][half],
            kOwnsKeys ? delta : state.delta[m][half],
            !Masked ||
                (query < p.seqQ && !isHidden<F>(p, block.batch, query, key)),
            !Drop || mask.keeps(query, key));
        s.at[m][n][e] = g.probability;
        dP.at[m][n][e] = g.dScore;
      }
    }
  }

  static TSR_DEVICE const float *biasOf(const AttentionParams &p,
                                        const Block &block,
                                        const BackwardStep &at, int lane) {
    const int own = ownPosition(block, lane, 0, 0);
    const int other = at.first + accumulatorColumn(lane, 0);
    return p.biasAt(at.head, kOwnsKeys ? other : own, kOwnsKeys ? own : other);
  }

  template <typename Exec>
  static TSR_DEVICE void storeScores(const Block &block, const Scores &s,
                                     float *tile) {
    const int lane = Exec::thread() % kWarp;
    TSR_UNROLL
    for (int m = 0; m < kMTiles; ++m)
      TSR_UNROLL
    for (int n = 0; n < kStream / 8; ++n)
      TSR_UNROLL
    for (int e = 0; e < 4; ++e)
      Exec::storeShared(
          tile + (block.warpRow + m * 16 + accumulatorRow(lane, e)) * kPitch +
              n * 8 + accumulatorColumn(lane, e),
          s.at[m][n][e]);
  }

  static TSR_DEVICE bool addsToEarlier(const AttentionParams &p) {
    return isSlice(F) && (kOwnsKeys ? p.earlierKeys : p.earlier);
  }

  /// Sums over slices, in f32.
  template <typename Exec, bool Adds>
  static TSR_DEVICE void
  give(const AttentionParams &p, const Block &block, const State &state,
       const float (&first)[kMTiles][2], const float (&second)[kMTiles][2]) {
    storeRows<Exec, D, Adds>(state.first, first,
                             ownView<float>(p, block, kOwnsKeys ? p.dK : p.dQ),
                             block.warpRow);
    if (kOwnsKeys)
      storeRows<Exec, D, Adds>(state.second, second,
                               ownView<float>(p, block, p.dV), block.warpRow);
  }

  /// The owned tiles become those of their gradients.
  template <typename Exec>
  static TSR_DEVICE void finish(const AttentionParams &p, const Block &block,
                                const State &state, unsigned char *tiles) {
    float first[kMTiles][2], second[kMTiles][2];
    TSR_UNROLL
    for (int m = 0; m < kMTiles; ++m)
      TSR_UNROLL
    for (int half = 0; half < 2; ++half) {
      first[m][half] = p.scale;
      second[m][half] = p.keepScale;
    }
    // Without a step nobody has waited for the owned tiles to arrive.
    Exec::copyWait();
    if (isSlice(F))
      return addsToEarlier(p)
                 ? give<Exec, true>(p, block, state, first, second)
                 : give<Exec, false>(p, block, state, first, second);
    Exec::barrier();
    storeFragments<Exec, D>(state.first, first, tiles, block.warpRow);
    if (kOwnsKeys)
      storeFragments<Exec, D>(state.second, second, tiles + kOwnBytes,
                              block.warpRow);
    Exec::barrier();
    storeTile<Exec, kRows, D, kThreads>(
        tiles, ownView<uint16_t>(p, block, kOwnsKeys ? p.dK : p.dQ));
    if (kOwnsKeys)
      storeTile<Exec, kRows, D, kThreads>(tiles + kOwnBytes,
                                          ownView<uint16_t>(p, block, p.dV));
  }
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_ATTENTION_BF16BACKWARD_H
