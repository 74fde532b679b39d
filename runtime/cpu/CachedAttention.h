//===- CachedAttention.h - One row over the cache of its slot ---*- C++ -*-===//
// Online softmax over chunks of positions, for all query heads of a key head at
// once, so that keys and values are read from memory once. What a row computes
// does not depend on the other rows. Included only by the Target*.cpp files,
// see Simd.h.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CPU_CACHEDATTENTION_H
#define TESSERA_RUNTIME_CPU_CACHEDATTENTION_H

#include "runtime/cpu/AttentionBlocks.h"
#include "runtime/cpu/CacheProblem.h"
#include "runtime/cpu/VectorMath.h"

namespace tessera {
namespace TESSERA_CPU_TARGET {

template <typename T, typename In> class CachedAttention {
public:
  CachedAttention(const CacheProblem &problem, void *memory)
      : p(problem), scratch{static_cast<unsigned char *>(memory)} {
    padded = roundUp(p.headDim, kLanes<T>);
    queries = scratch.template take<T>(p.group() * padded);
    out = scratch.template take<T>(p.group() * padded);
    scores = scratch.template take<T>(p.group() * kPositions);
    rowMax = scratch.template take<T>(p.group());
    rowSum = scratch.template take<T>(p.group());
  }

  size_t bytes() const { return scratch.used; }

  void run(const CacheUnit &unit) {
    row = unit.row;
    head = unit.kvHead;
    if (!p.isLive(row))
      return clear();
    loadQueries();
    const int64_t end = p.endOf(row);
    for (int64_t first = p.firstOf(row); first < end; first += kPositions)
      chunk(first, minimum(kPositions, end - first));
    finish();
  }

private:
  static constexpr int64_t kPositions = 64;

  /// Of query head h of the group.
  int64_t headOf(int64_t h) const {
    return row * p.heads + head * p.group() + h;
  }

  /// The mean over no place.
  void clear() {
    for (int64_t h = 0; h < p.group(); ++h) {
      for (int64_t d = 0; d < padded; ++d)
        out[h * padded + d] = 0;
      rowMax[h] = -T(__builtin_inf());
      rowSum[h] = 0;
    }
    finish();
  }

  void loadQueries() {
    const In *q = static_cast<const In *>(p.q) + row * p.row +
                  head * p.group() * p.headDim;
    for (int64_t h = 0; h < p.group(); ++h) {
      for (int64_t d = 0; d < padded; ++d) {
        queries[h * padded + d] =
            d < p.headDim ? T(widen(q[h * p.headDim + d])) * T(p.scale) : T(0);
        out[h * padded + d] = 0;
      }
      rowMax[h] = -T(__builtin_inf());
      rowSum[h] = 0;
    }
  }

  /// Where the positions that the rank has, from number `held` on, lie in a
  /// cache. Places are used again in turn.
  void locate(int64_t held, int64_t count) {
    int64_t place = held % p.places;
    for (int64_t j = 0; j < count; ++j) {
      offsets[j] = ((p.slotStart(row) + place) * p.kvHeads + head) * p.headDim;
      place = place + 1 < p.places ? place + 1 : 0;
    }
  }

  const In *at(const void *cache, int64_t j) const {
    return static_cast<const In *>(cache) + offsets[j];
  }

  /// Asks for a head of a position: heads of others lie between two positions,
  /// so the processor does not see where reading goes on.
  void fetch(const In *from) const {
    for (int64_t d = 0; d < p.headDim; d += 64 / int64_t(sizeof(In)))
      __builtin_prefetch(from + d, 0, 2);
  }

  /// A vector of a row; what is beyond its end is 0.
  Vec<T> part(const In *from, int64_t d) const {
    if (d + kLanes<T> <= p.headDim)
      return WideLoad<T, In>::from(from + d);
    T lanes[kLanes<T>] = {};
    for (int64_t i = d; i < p.headDim; ++i)
      lanes[i - d] = T(widen(from[i]));
    return load<T>(lanes);
  }

  void chunk(int64_t first, int64_t count) {
    locate(first, count);
    for (int64_t j = 0; j < count; j += kLanes<T>)
      scoreVector(j, minimum(kLanes<T>, count - j));
    if (p.biasTable)
      addBias(first, count);
    for (int64_t h = 0; h < p.group(); ++h)
      softmax(h, count);
    constexpr int64_t four = 4 * kLanes<T>;
    int64_t d = 0;
    for (; d + four <= p.headDim; d += four)
      addValues<4>(count, d);
    for (; d < padded; d += kLanes<T>)
      addValues<1>(count, d);
  }

  /// Scores of `count` positions of the chunk against every query head of the
  /// group.
  void scoreVector(int64_t column, int64_t count) {
    constexpr int w = kLanes<T>;
    const In *keys[w];
    for (int64_t i = 0; i < w; ++i) {
      const int64_t j = column + minimum(i, count - 1);
      keys[i] = at(p.keys, j);
      fetch(at(p.values, j));
    }
    for (int64_t h = 0; h < p.group(); ++h) {
      Vec<T> sums[w];
      for (int i = 0; i < w; ++i)
        sums[i] = dot(keys[i], queries + h * padded);
      transpose<T>(sums);
#pragma GCC unroll 4
      for (int step = w / 2; step > 0; step /= 2)
        for (int i = 0; i < step; ++i)
          sums[i] += sums[i + step];
      store<T>(scores + h * kPositions + column, sums[0]);
    }
  }

  void addBias(int64_t first, int64_t count) {
    const T *table = static_cast<const T *>(p.biasTable);
    for (int64_t j = 0; j < count; ++j) {
      const T *biases =
          table + p.bucketAt(row, first + j) * p.heads + head * p.group();
      for (int64_t h = 0; h < p.group(); ++h)
        scores[h * kPositions + j] += biases[h];
    }
  }

  Vec<T> dot(const In *key, const T *query) const {
    Vec<T> sum = {};
    for (int64_t d = 0; d < padded; d += kLanes<T>)
      sum += part(key, d) * load<T>(query + d);
    return sum;
  }

  /// Turns scores into exp(score - maximum); those after `count` become 0.
  void softmax(int64_t h, int64_t count) {
    T *row = scores + h * kPositions, top = rowMax[h];
    for (int64_t j = 0; j < count; ++j)
      top = row[j] > top || row[j] != row[j] ? row[j] : top;
    const T decay = exponential(broadcast(rowMax[h] - top))[0];
    Vec<T> sum = {};
    const int64_t end = roundUp(count, kLanes<T>);
    for (int64_t j = count; j < end; ++j)
      row[j] = -T(__builtin_inf());
    for (int64_t j = 0; j < end; j += kLanes<T>) {
      const Vec<T> e = exponential(load<T>(row + j) - broadcast(top));
      store<T>(row + j, e);
      sum += e;
    }
    T total = 0;
    for (int i = 0; i < kLanes<T>; ++i)
      total += sum[i];
    rowMax[h] = top;
    rowSum[h] = rowSum[h] * decay + total;
    for (int64_t d = 0; d < padded; d += kLanes<T>)
      store<T>(out + h * padded + d,
               load<T>(out + h * padded + d) * broadcast(decay));
  }

  /// Some vectors of all values, for every query head.
  template <int vectors> void addValues(int64_t count, int64_t d) {
    for (int64_t h = 0; h < p.group(); ++h) {
      const T *weights = scores + h * kPositions;
      T *mean = out + h * padded + d;
      Vec<T> even[vectors], odd[vectors] = {};
      for (int i = 0; i < vectors; ++i)
        even[i] = load<T>(mean + i * kLanes<T>);
      int64_t j = 0;
      for (; j + 2 <= count; j += 2) {
        addValue<vectors>(j, d, weights[j], even);
        addValue<vectors>(j + 1, d, weights[j + 1], odd);
      }
      if (j < count)
        addValue<vectors>(j, d, weights[j], even);
      for (int i = 0; i < vectors; ++i)
        store<T>(mean + i * kLanes<T>, even[i] + odd[i]);
    }
  }

  template <int vectors>
  void addValue(int64_t j, int64_t d, T weight, Vec<T> (&sums)[vectors]) const {
    const In *value = at(p.values, j);
#pragma GCC unroll 4
    for (int i = 0; i < vectors; ++i)
      sums[i] += part(value, d + i * kLanes<T>) * broadcast(weight);
  }

  void finish() {
    for (int64_t h = 0; h < p.group(); ++h) {
      T *mean = out + h * padded;
      if (rowSum[h] != 0) // else the sum is 0, too
        for (int64_t d = 0; d < p.headDim; ++d)
          mean[d] /= rowSum[h];
      if (p.weighted)
        storeWeighted(h, mean);
      else
        storeMean(h, mean);
    }
  }

  void storeMean(int64_t h, const T *mean) {
    In *to = static_cast<In *>(p.o) + headOf(h) * p.headDim;
    for (int64_t d = 0; d < p.headDim; ++d)
      to[d] = Narrow<In, T>::from(mean[d]);
  }

  void storeWeighted(int64_t h, const T *mean) {
    T *to = static_cast<T *>(p.o) + headOf(h) * (p.headDim + 1);
    for (int64_t d = 0; d < p.headDim; ++d)
      to[d] = mean[d];
    to[p.headDim] = T(__builtin_log(rowSum[h])) + rowMax[h];
  }

  const CacheProblem &p;
  Scratch scratch;
  int64_t padded, row = 0, head = 0;
  T *queries, *out, *scores, *rowMax, *rowSum;
  int64_t offsets[kPositions]; ///< Of the chunk's positions.
};

} // namespace TESSERA_CPU_TARGET
} // namespace tessera

#endif // TESSERA_RUNTIME_CPU_CACHEDATTENTION_H
