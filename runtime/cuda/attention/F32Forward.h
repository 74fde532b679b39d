//===- F32Forward.h - Attention forward in exact f32 ------------*- C++ -*-===//
// FlashAttention-2 (Dao 2023), algorithm 1, on plain multiply-adds: a block
// owns 64 queries and streams tiles of 32 keys and values.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_ATTENTION_F32FORWARD_H
#define TESSERA_RUNTIME_CUDA_ATTENTION_F32FORWARD_H

#include "runtime/cuda/attention/BackwardPlan.h"
#include "runtime/cuda/attention/DropoutMask.h"
#include "runtime/cuda/attention/F32Tile.h"
#include "runtime/cuda/attention/SegmentTiles.h"

namespace tessera::cuda {

/// D: head_dim, padded to 32, 64 or 128.
template <int D, Form F> struct F32Forward {
  static constexpr int kThreads = kF32Threads, kMinBlocks = 2;
  static constexpr int kQueries = kF32Rows * f32Pitch(D); /* floats */
  static constexpr int kTile = kF32Stream * f32Pitch(D);
  static constexpr int kScores = kF32Rows * f32Pitch(kF32Stream);
  static constexpr int kSharedBytes = (kQueries + 2 * kTile + kScores) * 4;

  static Grid grid(const AttentionParams &p) {
    return {ceilDiv(p.seqQ, kF32Rows), p.heads, p.batch};
  }

  struct State {
    F32Sums<D> out;
    float top[kF32RowsEach], sum[kF32RowsEach];
  };

  template <typename Exec>
  static TSR_DEVICE void run(const AttentionParams &p, unsigned char *shared) {
    float *queries = reinterpret_cast<float *>(shared);
    float *keys = queries + kQueries, *values = keys + kTile;
    float *scores = values + kTile;
    const int batch = Exec::blockZ(), head = Exec::blockY();
    const int keyHead = head / p.group();
    const int query =
        queryTileOf(p, Exec::blockX(), ceilDiv(p.seqQ, kF32Rows)) * kF32Rows;
    const TileRange tiles = keyTiles(planeOf(p), query, kF32Rows, kF32Stream);
    if (isSlice(F) && p.earlier && tiles.count() == 0)
      return;
    const auto met = SegmentTiles<F, Side::Queries>::template start<Exec>(
        p, batch, query, kF32Rows);
    DropoutMask mask = {};
    if (p.dropout)
      mask = dropoutMask(p, batch, head);

    loadF32Tile<Exec, kF32Rows, D>(
        queries, queryView<const float>(p, p.q, batch, head, query));
    State state;
    start(state);
    if (isSlice(F) && p.earlier)
      startEarlier<Exec>(p, batch, head, query, state);
    TSR_NO_UNROLL
    for (int tile = tiles.begin; tile < tiles.end; ++tile) {
      const int key = tile * kF32Stream;
      if (met.template leavesOut<Exec>(key, kF32Stream))
        continue;
      Exec::barrier(); // the previous tile is not read any more
      loadF32Tile<Exec, kF32Stream, D>(
          keys, keyView<const float>(p, p.k, batch, keyHead, key));
      loadF32Tile<Exec, kF32Stream, D>(
          values, keyView<const float>(p, p.v, batch, keyHead, key));
      Exec::copyWait();
      Exec::barrier();
      F32Scores s;
      productOfF32Rows<Exec, D>(s, queries, keys);
      softmax<Exec>(p, batch, head, query, key, s, state);
      if (p.dropout)
        drop<Exec>(mask, query, key, s);
      storeScores<Exec>(s, scores);
      Exec::barrier();
      addF32Product<Exec>(state.out, scores, values);
    }
    finish<Exec>(p, batch, head, query, state);
  }

private:
  static TSR_DEVICE void start(State &state) {
    clear(state.out);
    TSR_UNROLL
    for (int i = 0; i < kF32RowsEach; ++i) {
      state.top[i] = -__builtin_huge_valf();
      state.sum[i] = 0;
    }
  }

  /// Starts as if the maximum of earlier scores were their log-sum-exp: their
  /// sum is 1 then, which one lane of a row has.
  template <typename Exec>
  static TSR_DEVICE void startEarlier(const AttentionParams &p, int batch,
                                      int head, int query, State &state) {
    loadF32Sums<Exec>(state.out, 1 / p.keepScale,
                      queryView<const float>(p, p.o, batch, head, query));
    TSR_UNROLL
    for (int i = 0; i < kF32RowsEach; ++i) {
      const int q = query + f32Row(Exec::thread(), i);
      if (q < p.seqQ)
        state.top[i] = p.lse[p.statistic(batch, head, q)] * kLog2E;
      state.sum[i] = f32Column(Exec::thread(), 0) == 0 ? 1 : 0;
    }
  }

  /// See Bf16Forward::softmax; here eight lanes share a row.
  template <typename Exec>
  static TSR_DEVICE void softmax(const AttentionParams &p, int batch, int head,
                                 int query, int key, F32Scores &s,
                                 State &state) {
    const float *bias = nullptr; /* at the thread's first query and key */
    if (hasBias(F))
      bias = p.biasAt(head, query + f32Row(Exec::thread(), 0),
                      key + f32Column(Exec::thread(), 0));
    TSR_UNROLL
    for (int i = 0; i < kF32RowsEach; ++i) {
      const int q = query + f32Row(Exec::thread(), i);
      float top = state.top[i];
      TSR_UNROLL
      for (int j = 0; j < kF32ScoresEach; ++j) {
        const int t = key + f32Column(Exec::thread(), j);
        const bool hidden = isHidden<F>(p, batch, q, t);
        float b = 0;
        if (hasBias(F))
          b = Exec::loadConstant(bias + i * kF32Down - j * kF32Across);
        s.at[i][j] = hidden       ? -__builtin_huge_valf()
                     : hasBias(F) ? s.at[i][j] * p.scaleLog2 + b
                                  : s.at[i][j] * p.scaleLog2;
        top = Exec::maximum(top, s.at[i][j]);
      }
      TSR_UNROLL
      for (int distance = 1; distance < kF32Across; distance *= 2)
        top = Exec::maximum(top, Exec::shuffleXor(top, distance));
      const float base = subtrahendOf<Exec, F>(p, top);
      const float decay = Exec::exp2(state.top[i] - base);
      float sum = 0;
      TSR_UNROLL
      for (int j = 0; j < kF32ScoresEach; ++j)
        sum += s.at[i][j] = Exec::exp2(s.at[i][j] - base);
      state.top[i] = top;
      state.sum[i] = state.sum[i] * decay + sum;
      TSR_UNROLL
      for (int j = 0; j < D / 32; ++j)
        TSR_UNROLL
      for (int e = 0; e < 4; ++e)
        state.out.at[i][j][e] *= decay;
    }
  }

  template <typename Exec>
  static TSR_DEVICE void drop(const DropoutMask &mask, int query, int key,
                              F32Scores &s) {
    TSR_UNROLL
    for (int i = 0; i < kF32RowsEach; ++i)
      TSR_UNROLL
    for (int j = 0; j < kF32ScoresEach; ++j)
      if (!mask.keeps(query + f32Row(Exec::thread(), i),
                      key + f32Column(Exec::thread(), j)))
        s.at[i][j] = 0;
  }

  template <typename Exec>
  static TSR_DEVICE void finish(const AttentionParams &p, int batch, int head,
                                int query, State &state) {
    Exec::copyWait(); // without a tile nobody has
    float factor[kF32RowsEach];
    TSR_UNROLL
    for (int i = 0; i < kF32RowsEach; ++i) {
      float sum = state.sum[i];
      TSR_UNROLL
      for (int distance = 1; distance < kF32Across; distance *= 2)
        sum += Exec::shuffleXor(sum, distance);
      factor[i] = sum == 0 ? 0 : p.keepScale / sum;
      const int q = query + f32Row(Exec::thread(), i);
      if (f32Column(Exec::thread(), 0) == 0 && q < p.seqQ)
        p.lse[p.statistic(batch, head, q)] =
            (state.top[i] + Exec::log2(sum)) * kLn2;
    }
    storeF32Sums<Exec, false>(state.out, factor,
                              queryView<float>(p, p.o, batch, head, query));
  }
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_ATTENTION_F32FORWARD_H
