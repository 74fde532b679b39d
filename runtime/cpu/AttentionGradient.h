//===- AttentionGradient.h - Blocked attention, backward --------*- C++ -*-===//
// FlashAttention-2 (Dao 2023), section 3.2: scores are recomputed from the
// log-sum-exp. With P the probabilities, M the dropout factors (0 or 1/(1-p)):
//   dV += (P M)^T dO   dS = P (M (dO V^T) - rowsum(dO O))
//   dQ += scale dS K   dK += scale dS^T Q
// d_q adds over keys in order; d_k, d_v add over heads of the group, then query
// blocks in order. Included only by the Target*.cpp files, see Simd.h.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CPU_ATTENTIONGRADIENT_H
#define TESSERA_RUNTIME_CPU_ATTENTIONGRADIENT_H

#include "runtime/cpu/AttentionBlocks.h"

namespace tessera {
namespace TESSERA_CPU_TARGET {

template <typename T, typename In> class AttentionGradient {
public:
  AttentionGradient(const AttentionProblem &problem, int64_t keys, void *memory)
      : p(problem), scratch{static_cast<unsigned char *>(memory)} {
    padded = roundUp(p.headDim, kLanes<T>);
    keyCopy = scratch.take<T>(keys * padded);
    valueCopy = scratch.take<T>(keys * padded);
    queryCopy = scratch.take<T>(kBlock * padded);
    gradientCopy = scratch.take<T>(kBlock * padded);
    dKeys = scratch.take<T>(keys * padded);
    dValues = scratch.take<T>(keys * padded);
    dQueries = scratch.take<T>(kBlock * padded);
    queriesT = scratch.take<T>(p.headDim * kBlock);
    gradientT = scratch.take<T>(p.headDim * kBlock);
    probability = scratch.take<T>(kBlock * kBlock);
    dScore = scratch.take<T>(kBlock * kBlock);
    lse = scratch.take<T>(kBlock);
    delta = scratch.take<T>(kBlock);
  }

  size_t bytes() const { return scratch.used; }

  void run(const AttentionUnit &unit) {
    u = unit;
    const int64_t count = u.keyEnd - u.keyBegin, offset = u.kvHead * p.headDim;
    const int64_t first = u.batch * p.seqK + u.keyBegin;
    keys =
        copyRows<T, In>(static_cast<const In *>(p.k) + first * p.rowK + offset,
                        p.rowK, count, p.headDim, keyCopy);
    values =
        copyRows<T, In>(static_cast<const In *>(p.v) + first * p.rowV + offset,
                        p.rowV, count, p.headDim, valueCopy);
    if (u.wantsKeys)
      for (int64_t i = 0; i < count * padded; ++i)
        dKeys[i] = dValues[i] = 0;
    const int64_t blocks = ceilDiv(p.seqQ, kBlock);
    for (int64_t item = u.itemBegin; item < u.itemEnd; ++item)
      queryBlock(u.kvHead * p.group() + item / blocks, item % blocks * kBlock);
    if (!u.wantsKeys)
      return;
    give(dKeys, count, T(p.scale), p.dK, first * p.rowDK + offset, p.rowDK);
    give(dValues, count, T(1), p.dV, first * p.rowDV + offset, p.rowDV);
  }

private:
  /// Rows of a gradient, `at` elements behind `out`: added to what is there
  /// where it is a sum over slices.
  void give(const T *rows, int64_t count, T factor, void *out, int64_t at,
            int64_t stride) {
    for (int64_t r = 0; r < count; ++r)
      if (p.isSlice())
        addRow<T>(rows + r * padded, p.headDim, factor,
                  static_cast<T *>(out) + at + r * stride);
      else
        writeRow<T, In>(rows + r * padded, p.headDim, factor,
                        static_cast<In *>(out) + at + r * stride);
  }

  void queryBlock(int64_t head, int64_t query) {
    const int64_t queries = minimum(kBlock, p.seqQ - query);
    const int64_t begin = maximum(u.keyBegin, keyBegin(p, query));
    const int64_t end = minimum(u.keyEnd, keyEnd(p, query, queries));
    if (end <= begin)
      return noKeys(head, query, queries);
    loadQueries(head, query, queries);
    ownSegments.load(p, u.batch, query, queries);
    bool begun = false;
    for (int64_t key = begin; key < end; key += kBlock) {
      Square square = squareAt(p, key, end, query, queries);
      if (!addSegments(p, u.batch, ownSegments, &square))
        continue;
      const int64_t at = key - u.keyBegin;
      const Rows<T> k{keys.data + at * keys.row, keys.row};
      const Rows<T> v{values.data + at * values.row, values.row};
      scoresOf<T>(p, square, head, k, queriesT, probability);
      productByKey<T>(square, p.headDim, v, gradientT, dScore);
      scoreGradients(square, head);
      if (p.bias)
        biasGradient(square, head);
      if (u.wantsKeys) {
        sumOverQueries<T>(square, probability, gradientRows,
                          dValues + at * padded, padded);
        sumOverQueries<T>(square, dScore, queryRows, dKeys + at * padded,
                          padded);
      }
      if (u.wantsQueries)
        sumOverKeys<T>(square, dScore, k, dQueries, padded,
                       begun ? Start::Old : Start::Zero);
      begun = true;
    }
    if (!begun)
      return noKeys(head, query, queries);
    if (u.wantsQueries)
      giveQueries(head, query, queries);
  }

  void giveQueries(int64_t head, int64_t query, int64_t queries) {
    give(dQueries, queries, T(p.scale), p.dQ,
         (u.batch * p.seqQ + query) * p.rowDQ + head * p.headDim, p.rowDQ);
  }

  /// Queries that see no key have gradient 0; sums over slices have it already.
  void noKeys(int64_t head, int64_t query, int64_t queries) {
    if (!u.wantsQueries || p.isSlice())
      return;
    for (int64_t i = 0; i < queries * padded; ++i)
      dQueries[i] = 0;
    giveQueries(head, query, queries);
  }

  /// Everything of a query block that does not depend on keys.
  void loadQueries(int64_t head, int64_t query, int64_t queries) {
    const int64_t row = u.batch * p.seqQ + query, offset = head * p.headDim;
    const In *q = static_cast<const In *>(p.q) + row * p.rowQ + offset;
    const In *o = static_cast<const In *>(p.o) + row * p.rowO + offset;
    const In *dO = static_cast<const In *>(p.dO) + row * p.rowDO + offset;
    packTransposed<T, In>(q, p.rowQ, queries, p.headDim, T(p.scale), queriesT,
                          kBlock);
    packTransposed<T, In>(dO, p.rowDO, queries, p.headDim, T(1), gradientT,
                          kBlock);
    queryRows = copyRows<T, In>(q, p.rowQ, queries, p.headDim, queryCopy);
    gradientRows =
        copyRows<T, In>(dO, p.rowDO, queries, p.headDim, gradientCopy);
    const T *logSum = static_cast<const T *>(p.lse) +
                      (u.batch * p.heads + head) * p.seqQ + query;
    for (int64_t r = 0; r < kBlock; ++r) {
      lse[r] = r < queries ? logSum[r] : T(0);
      delta[r] = r < queries ? dot(gradientRows.data + r * gradientRows.row,
                                   o + r * p.rowO)
                             : T(0);
    }
  }

  T dot(const T *a, const In *b) const {
    Vec<T> sum = {};
    int64_t c = 0;
    for (; c + kLanes<T> <= p.headDim; c += kLanes<T>)
      sum += load<T>(a + c) * WideLoad<T, In>::from(b + c);
    T total = 0;
    for (int i = 0; i < kLanes<T>; ++i)
      total += sum[i];
    for (; c < p.headDim; ++c)
      total += a[c] * T(widen(b[c]));
    return total;
  }

  /// dS of lanes after the last query is 0: their gradients are.
  void biasGradient(const Square &square, int64_t head) {
    T *sum = biasGradientOf<T>(p, square, u.batch, head);
    for (int64_t v = 0; v < square.vectors<T>(); ++v)
      for (int64_t r = 0; r < square.keysSeen<T>(v); ++r) {
        T *at = sum + v * kLanes<T> - r;
        store<T>(at,
                 load<T>(at) + load<T>(dScore + r * kBlock + v * kLanes<T>));
      }
  }

  /// Replaces scores and dO V^T by P M and dS.
  void scoreGradients(const Square &square, int64_t head) {
    constexpr int w = kLanes<T>;
    const bool hidesKeys = square.hidesKeys();
    for (int64_t v = 0; v < square.vectors<T>(); ++v) {
      const Vec<T> logSum = load<T>(lse + v * w);
      const Vec<T> mean = load<T>(delta + v * w);
      const KeepLanes<T> lanes = keepLanes<T>(p, square, u.batch, head, v);
      for (int64_t r = 0; r < square.keysSeen<T>(v); ++r) {
        T *atP = probability + r * kBlock + v * w;
        T *atS = dScore + r * kBlock + v * w;
        Vec<T> e = exponential(load<T>(atP) - logSum), dP = load<T>(atS);
        if (hidesKeys)
          e = seesKey<T>(square, r, v) ? e : Vec<T>{};
        Vec<T> kept = e;
        if (p.dropoutRule.active) {
          const Vec<Int<T>> keep = lanes.keep(uint64_t(r));
          kept = keep ? e * T(p.dropoutRule.keepScale) : Vec<T>{};
          dP = keep ? dP * T(p.dropoutRule.keepScale) : Vec<T>{};
        }
        store<T>(atP, kept);
        store<T>(atS, e * (dP - mean));
      }
    }
  }

  const AttentionProblem &p;
  Scratch scratch;
  AttentionUnit u;
  int64_t padded;
  Rows<T> keys, values, queryRows, gradientRows;
  QuerySegments ownSegments;
  T *keyCopy, *valueCopy, *queryCopy, *gradientCopy;
  T *dKeys, *dValues, *dQueries, *queriesT, *gradientT;
  T *probability, *dScore, *lse, *delta;
};

} // namespace TESSERA_CPU_TARGET
} // namespace tessera

#endif // TESSERA_RUNTIME_CPU_ATTENTIONGRADIENT_H
