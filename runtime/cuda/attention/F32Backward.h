//===- F32Backward.h - Attention backward in exact f32 ----------*- C++ -*-===//
// Works as Bf16Backward.h, on plain multiply-adds: a block owns 64 positions of
// two tensors and streams 32 of two others. P and dS take turns in one tile of
// scores, so that two blocks fit a multiprocessor.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_ATTENTION_F32BACKWARD_H
#define TESSERA_RUNTIME_CUDA_ATTENTION_F32BACKWARD_H

#include "runtime/cuda/attention/BackwardPlan.h"
#include "runtime/cuda/attention/DiagonalSums.h"
#include "runtime/cuda/attention/DropoutMask.h"
#include "runtime/cuda/attention/F32Tile.h"
#include "runtime/cuda/attention/SegmentTiles.h"

namespace tessera::cuda {

template <int D, Side S, Form F> struct F32Backward {
  static constexpr bool kOwnsKeys = S == Side::Keys;
  static constexpr bool kAddsBias = hasBias(F);
  static constexpr bool kSumsBias = kAddsBias && !kOwnsKeys;
  static constexpr int kThreads = kF32Threads, kMinBlocks = 2;
  static constexpr int kOwn = kF32Rows * f32Pitch(D); /* floats */
  static constexpr int kTile = kF32Stream * f32Pitch(D);
  static constexpr int kScores = kF32Rows * f32Pitch(kF32Stream);
  static constexpr int kSharedBytes = (2 * kOwn + 2 * kTile + kScores) * 4;

  static_assert(kF32Rows == biasRows(false, D) && kF32Stream == kBiasStream,
                "");
  using BiasSums = DiagonalSums<kF32Rows, f32Pitch(kF32Stream), kThreads>;

  static Grid grid(const AttentionParams &p) {
    return {ceilDiv(kOwnsKeys ? p.seqK : p.seqQ, kF32Rows),
            kOwnsKeys ? p.kvHeads : p.heads, p.batch};
  }

  struct Block {
    int batch, ownHead, own;
  };
  struct State {
    F32Sums<D> first, second;
  };

  template <typename Exec>
  static TSR_DEVICE void run(const AttentionParams &p, unsigned char *shared) {
    float *own = reinterpret_cast<float *>(shared);
    float *streamed = own + 2 * kOwn, *scores = streamed + 2 * kTile;
    const int tile =
        kOwnsKeys ? Exec::blockX()
                  : queryTileOf(p, Exec::blockX(), ceilDiv(p.seqQ, kF32Rows));
    const Block block = {Exec::blockZ(), Exec::blockY(), tile * kF32Rows};
    const BackwardPlan plan =
        backwardPlan<S>(p, block.ownHead, block.own, kF32Rows, kF32Stream);
    if (plan.steps() == 0 && addsToEarlier(p))
      return;
    DropoutMask mask = {};
    if (p.dropout)
      mask = dropoutMask(p, block.batch, plan.firstHead);
    loadF32Tile<Exec, kF32Rows, D>(
        own, ownView<const float>(p, block, kOwnsKeys ? p.k : p.q));
    loadF32Tile<Exec, kF32Rows, D>(
        own + kOwn, ownView<const float>(p, block, kOwnsKeys ? p.v : p.dO));
    State state;
    clear(state.first);
    clear(state.second);
    BiasSums sums = {};
    if (kSumsBias)
      sums = BiasSums::template start<Exec>(p, block.batch, block.ownHead,
                                            block.own);
    const auto met = SegmentTiles<F, S>::template start<Exec>(
        p, block.batch, block.own, kF32Rows);
    const int steps = plan.steps();
    TSR_NO_UNROLL
    for (int i = 0; i < steps; ++i) {
      const BackwardStep at = plan.step(i);
      if (met.template leavesOut<Exec>(at.first, kF32Stream))
        continue;
      mask.firstIndex = scoreIndex(p, block.batch, at.head, 0, 0);
      Exec::barrier(); // the previous tiles are not read any more
      loadStreamed<Exec>(p, block, plan, at, streamed);
      const float biasSum =
          kSumsBias ? sums.template read<Exec>(p, at.first) : 0;
      Exec::copyWait();
      Exec::barrier();
      step<Exec>(p, block, mask, at, own, streamed, scores, state);
      if (kSumsBias)
        sums.template add<Exec>(p, at.first, biasSum, scores);
    }
    finish<Exec>(p, block, state);
  }

private:
  template <typename T>
  static TSR_DEVICE TileView<T> ownView(const AttentionParams &p,
                                        const Block &block,
                                        const TensorRows &tensor) {
    return kOwnsKeys
               ? keyView<T>(p, tensor, block.batch, block.ownHead, block.own)
               : queryView<T>(p, tensor, block.batch, block.ownHead, block.own);
  }

  template <typename Exec>
  static TSR_DEVICE void
  loadStreamed(const AttentionParams &p, const Block &block,
               const BackwardPlan &plan, const BackwardStep &at, float *tiles) {
    const auto view = [&](const TensorRows &tensor) {
      return kOwnsKeys ? queryView<const float>(p, tensor, block.batch, at.head,
                                                at.first)
                       : keyView<const float>(p, tensor, block.batch,
                                              plan.keyHead, at.first);
    };
    loadF32Tile<Exec, kF32Stream, D>(tiles, view(kOwnsKeys ? p.q : p.k));
    loadF32Tile<Exec, kF32Stream, D>(tiles + kTile,
                                     view(kOwnsKeys ? p.dO : p.v));
  }

  template <typename Exec>
  static TSR_DEVICE void step(const AttentionParams &p, const Block &block,
                              const DropoutMask &mask, const BackwardStep &at,
                              const float *own, const float *streamed,
                              float *scores, State &state) {
    F32Scores s, dP;
    productOfF32Rows<Exec, D>(s, own, streamed);
    productOfF32Rows<Exec, D>(dP, own + kOwn, streamed + kTile);
    gradients<Exec>(p, block, mask, at, s, dP);
    if (kOwnsKeys) {
      storeScores<Exec>(s, scores);
      Exec::barrier();
      addF32Product<Exec>(state.second, scores, streamed + kTile);
      Exec::barrier();
    }
    storeScores<Exec>(dP, scores);
    Exec::barrier();
    addF32Product<Exec>(state.first, scores, streamed);
  }

  /// Replaces scores and dP by P (zero where dropped) and dS.
  template <typename Exec>
  static TSR_DEVICE void gradients(const AttentionParams &p, const Block &block,
                                   const DropoutMask &mask,
                                   const BackwardStep &at, F32Scores &s,
                                   F32Scores &dP) {
    const float *lse = p.lse + p.statistic(block.batch, at.head, 0);
    const float *delta = p.delta + p.statistic(block.batch, at.head, 0);
    const float *bias = nullptr; /* at the thread's first element */
    constexpr int biasDown = kOwnsKeys ? -kF32Down : kF32Down;
    constexpr int biasAcross = kOwnsKeys ? kF32Across : -kF32Across;
    if (kAddsBias) {
      const int own = block.own + f32Row(Exec::thread(), 0);
      const int other = at.first + f32Column(Exec::thread(), 0);
      bias =
          p.biasAt(at.head, kOwnsKeys ? other : own, kOwnsKeys ? own : other);
    }
    TSR_UNROLL
    for (int i = 0; i < kF32RowsEach; ++i)
      TSR_UNROLL
    for (int j = 0; j < kF32ScoresEach; ++j) {
      const int own = block.own + f32Row(Exec::thread(), i);
      const int other = at.first + f32Column(Exec::thread(), j);
      const int query = kOwnsKeys ? other : own;
      const int key = kOwnsKeys ? own : other;
      const bool exists = query < p.seqQ;
      float b = 0;
      if (kAddsBias)
        b = Exec::loadConstant(bias + i * biasDown + j * biasAcross);
      const ScoreGradient g = gradientOf<Exec, F>(
          p, s.at[i][j], b, dP.at[i][j], exists ? lse[query] : 0,
          exists ? delta[query] : 0,
          exists && !isHidden<F>(p, block.batch, query, key),
          !p.dropout || mask.keeps(query, key));
      s.at[i][j] = g.probability;
      dP.at[i][j] = g.dScore;
    }
  }

  template <typename Exec>
  static TSR_DEVICE void finish(const AttentionParams &p, const Block &block,
                                const State &state) {
    float first[kF32RowsEach], second[kF32RowsEach];
    TSR_UNROLL
    for (int i = 0; i < kF32RowsEach; ++i) {
      first[i] = p.scale;
      second[i] = p.keepScale;
    }
    Exec::copyWait(); // without a step nobody has
    if (addsToEarlier(p))
      give<Exec, true>(p, block, state, first, second);
    else
      give<Exec, false>(p, block, state, first, second);
  }

  static TSR_DEVICE bool addsToEarlier(const AttentionParams &p) {
    return isSlice(F) && (kOwnsKeys ? p.earlierKeys : p.earlier);
  }

  template <typename Exec, bool Adds>
  static TSR_DEVICE void give(const AttentionParams &p, const Block &block,
                              const State &state,
                              const float (&first)[kF32RowsEach],
                              const float (&second)[kF32RowsEach]) {
    storeF32Sums<Exec, Adds>(state.first, first,
                             ownView<float>(p, block, kOwnsKeys ? p.dK : p.dQ));
    if (kOwnsKeys)
      storeF32Sums<Exec, Adds>(state.second, second,
                               ownView<float>(p, block, p.dV));
  }
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_ATTENTION_F32BACKWARD_H
