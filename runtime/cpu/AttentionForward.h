//===- AttentionForward.h - Blocked attention, forward ----------*- C++ -*-===//
// Online softmax (Milakov & Gimelshein 2018; FlashAttention, Dao et al. 2022,
// algorithm 1): per query block a running maximum and sum, never an s x s
// matrix. Included only by the Target*.cpp files, see Simd.h.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CPU_ATTENTIONFORWARD_H
#define TESSERA_RUNTIME_CPU_ATTENTIONFORWARD_H

#include "runtime/cpu/AttentionBlocks.h"

namespace tessera {
namespace TESSERA_CPU_TARGET {

template <typename T, typename In> class AttentionForward {
public:
  AttentionForward(const AttentionProblem &problem, int64_t keys, void *memory)
      : p(problem), scratch{static_cast<unsigned char *>(memory)} {
    padded = roundUp(p.headDim, kLanes<T>);
    keyCopy = scratch.take<T>(keys * padded);
    valueCopy = scratch.take<T>(keys * padded);
    queriesT = scratch.take<T>(p.headDim * kBlock);
    s = scratch.take<T>(kBlock * kBlock);
    out = scratch.take<T>(kBlock * padded);
    rowMax = scratch.take<T>(kBlock);
    rowSum = scratch.take<T>(kBlock);
    decay = scratch.take<T>(kBlock);
  }

  size_t bytes() const { return scratch.used; }

  void run(const AttentionUnit &u) {
    const int64_t offset = u.kvHead * p.headDim;
    keys = copyRows<T, In>(static_cast<const In *>(p.k) +
                               u.batch * p.seqK * p.rowK + offset,
                           p.rowK, u.keyEnd, p.headDim, keyCopy);
    values = copyRows<T, In>(static_cast<const In *>(p.v) +
                                 u.batch * p.seqK * p.rowV + offset,
                             p.rowV, u.keyEnd, p.headDim, valueCopy);
    const int64_t blocks = ceilDiv(p.seqQ, kBlock);
    for (int64_t item = u.itemBegin; item < u.itemEnd; ++item)
      queryBlock(u.batch, u.kvHead * p.group() + item / blocks,
                 item % blocks * kBlock);
  }

private:
  void queryBlock(int64_t b, int64_t head, int64_t query) {
    const int64_t queries = minimum(kBlock, p.seqQ - query);
    const In *q = static_cast<const In *>(p.q) + (b * p.seqQ + query) * p.rowQ +
                  head * p.headDim;
    packTransposed<T, In>(q, p.rowQ, queries, p.headDim, T(p.scale), queriesT,
                          kBlock);
    for (int64_t i = 0; i < kBlock; ++i) {
      rowMax[i] = -T(__builtin_inf());
      rowSum[i] = 0;
    }
    if (p.earlier)
      loadEarlier(b, head, query, queries);
    const int64_t begin = keyBegin(p, query), end = keyEnd(p, query, queries);
    ownSegments.load(p, b, query, queries);
    bool begun = p.earlier;
    for (int64_t key = begin; key < end; key += kBlock) {
      Square square = squareAt(p, key, end, query, queries);
      if (!addSegments(p, b, ownSegments, &square))
        continue;
      scoresOf<T>(p, square, head, from(keys, key), queriesT, s);
      bool decays = softmax(square);
      if (p.dropoutRule.active)
        drop(square, b, head);
      if (decays && begun)
        decayOutput(queries);
      sumOverKeys<T>(square, s, from(values, key), out, padded,
                     begun ? Start::Old : Start::Zero);
      begun = true;
    }
    if (!begun)
      clearOutput(queries);
    finish(b, head, query, queries);
  }

  static Rows<T> from(Rows<T> rows, int64_t first) {
    return {rows.data + first * rows.row, rows.row};
  }

  void clearOutput(int64_t queries) {
    for (int64_t i = 0; i < queries * padded; ++i)
      out[i] = 0;
  }

  /// Replaces the maximum of queries that have seen no key, which a window or
  /// segments leave behind. The exponential of a hidden score is 0 by any
  /// maximum but -inf.
  Vec<T> finite(Vec<T> top) const {
    const Vec<T> none = broadcast(-T(__builtin_inf()));
    return p.mayHideRows() ? (top > none ? top : Vec<T>{}) : top;
  }

  /// Turns scores into exp(score - maximum), updates maximum and sum. Returns
  /// whether any maximum has risen (then decay says by how much).
  bool softmax(const Square &square) {
    constexpr int w = kLanes<T>;
    bool decays = false;
    for (int64_t v = 0; v < square.vectors<T>(); ++v) {
      T *column = s + v * w;
      const int64_t seen = square.keysSeen<T>(v);
      if (square.hidesKeys())
        maskColumn(square, column, v, seen);
      const Vec<T> old = load<T>(rowMax + v * w);
      const Vec<T> top = maximumOf(column, seen, old);
      const Vec<T> base = finite(top);
      const Vec<T> sum = exponentials(column, seen, base);
      const Vec<T> factor = exponential(old - base);
      store<T>(rowMax + v * w, top);
      store<T>(decay + v * w, factor);
      store<T>(rowSum + v * w, load<T>(rowSum + v * w) * factor + sum);
      Vec<Int<T>> changed = factor != 1;
      for (int i = 0; i < w; ++i)
        decays |= changed[i] != 0;
    }
    return decays;
  }

  static void maskColumn(const Square &square, T *column, int64_t v,
                         int64_t seen) {
    const Vec<T> hidden = broadcast(-T(__builtin_inf()));
    for (int64_t r = square.maskedFrom<T>(v); r < seen; ++r) {
      T *at = column + r * kBlock;
      store<T>(at, seesKey<T>(square, r, v) ? load<T>(at) : hidden);
    }
  }

  /// Four chains hide the latency of the comparison.
  static Vec<T> maximumOf(const T *column, int64_t rows, Vec<T> start) {
    Vec<T> top[4] = {start, start, start, start};
    int64_t r = 0;
    for (; r + 4 <= rows; r += 4)
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        Vec<T> x = load<T>(column + (r + i) * kBlock);
        top[i] = x > top[i] ? x : top[i];
      }
    for (; r < rows; ++r) {
      Vec<T> x = load<T>(column + r * kBlock);
      top[0] = x > top[0] ? x : top[0];
    }
    top[0] = top[0] > top[1] ? top[0] : top[1];
    top[2] = top[2] > top[3] ? top[2] : top[3];
    return top[0] > top[2] ? top[0] : top[2];
  }

  static Vec<T> exponentials(T *column, int64_t rows, Vec<T> top) {
    Vec<T> sum[4] = {};
    int64_t r = 0;
    for (; r + 4 <= rows; r += 4)
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        T *at = column + (r + i) * kBlock;
        Vec<T> e = exponential(load<T>(at) - top);
        store<T>(at, e);
        sum[i] += e;
      }
    for (; r < rows; ++r) {
      T *at = column + r * kBlock;
      Vec<T> e = exponential(load<T>(at) - top);
      store<T>(at, e);
      sum[0] += e;
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }

  /// Sets dropped probabilities to zero, after they have been summed.
  void drop(const Square &square, int64_t b, int64_t head) {
    for (int64_t v = 0; v < square.vectors<T>(); ++v) {
      const KeepLanes<T> lanes = keepLanes<T>(p, square, b, head, v);
      for (int64_t r = 0; r < square.keysSeen<T>(v); ++r) {
        T *at = s + r * kBlock + v * kLanes<T>;
        store<T>(at, lanes.keep(uint64_t(r)) ? load<T>(at) : Vec<T>{});
      }
    }
  }

  void decayOutput(int64_t queries) {
    for (int64_t r = 0; r < queries; ++r)
      for (int64_t c = 0; c < padded; c += kLanes<T>) {
        T *at = out + r * padded + c;
        store<T>(at, load<T>(at) * decay[r]);
      }
  }

  /// The softmax goes on as if the maximum of earlier scores were their
  /// log-sum-exp: their sum is 1 then, and the output is already divided by it.
  void loadEarlier(int64_t b, int64_t head, int64_t query, int64_t queries) {
    const T *o = outputAt<T>(b, head, query), *lse = lseAt(b, head, query);
    for (int64_t r = 0; r < queries; ++r) {
      for (int64_t c = p.headDim; c < padded; ++c)
        out[r * padded + c] = 0;
      writeRow<T, T>(o + r * p.rowO, p.headDim, T(1 / p.dropoutRule.keepScale),
                     out + r * padded);
      rowMax[r] = lse[r];
      rowSum[r] = 1;
    }
  }

  void finish(int64_t b, int64_t head, int64_t query, int64_t queries) {
    if (p.isSlice())
      writeOutput(queries, outputAt<T>(b, head, query));
    else
      writeOutput(queries, outputAt<In>(b, head, query));
    T *lse = lseAt(b, head, query);
    for (int64_t r = 0; r < queries; ++r)
      lse[r] = rowMax[r] + T(__builtin_log(double(rowSum[r])));
  }

  template <typename Out> void writeOutput(int64_t queries, Out *o) {
    for (int64_t r = 0; r < queries; ++r) {
      const T factor =
          rowSum[r] == 0 ? T(0) : T(p.dropoutRule.keepScale) / rowSum[r];
      writeRow<T, Out>(out + r * padded, p.headDim, factor, o + r * p.rowO);
    }
  }

  template <typename Out>
  Out *outputAt(int64_t b, int64_t head, int64_t query) const {
    return static_cast<Out *>(p.o) + (b * p.seqQ + query) * p.rowO +
           head * p.headDim;
  }
  T *lseAt(int64_t b, int64_t head, int64_t query) const {
    return static_cast<T *>(p.lse) + (b * p.heads + head) * p.seqQ + query;
  }

  const AttentionProblem &p;
  Scratch scratch;
  int64_t padded;
  Rows<T> keys, values;
  QuerySegments ownSegments;
  T *keyCopy, *valueCopy, *queriesT, *s, *out, *rowMax, *rowSum, *decay;
};

} // namespace TESSERA_CPU_TARGET
} // namespace tessera

#endif // TESSERA_RUNTIME_CPU_ATTENTIONFORWARD_H
