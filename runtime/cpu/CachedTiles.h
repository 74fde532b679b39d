//===- CachedTiles.h - Inner loops of attention over caches -----*- C++ -*-===//
// Scores of queries and keys, and weighted sums of values. A query gets the
// same bits in every tile: each score is one chain along a head and one tree
// over its lanes, each element of a sum one chain along positions. Included
// only by the Target*.cpp files, see Simd.h.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CPU_CACHEDTILES_H
#define TESSERA_RUNTIME_CPU_CACHEDTILES_H

#include "runtime/cpu/VectorMath.h"

namespace tessera {
namespace TESSERA_CPU_TARGET {

/// Heads of positions as they lie in a cache; what is beyond a head's end is 0.
template <typename T, typename In> struct HeadsInPlace {
  const In *first;
  const int64_t *offsets; ///< The offset of each position of a chunk.
  int64_t headDim;

  const In *at(int64_t j) const { return first + offsets[j]; }
  int64_t whole() const { return headDim / kLanes<T> * kLanes<T>; }
  Vec<T> vector(const In *head, int64_t d) const {
    return WideLoad<T, In>::from(head + d);
  }
  Vec<T> rest(const In *head, int64_t d) const {
    T lanes[kLanes<T>] = {};
    for (int64_t i = d; i < headDim; ++i)
      lanes[i - d] = T(widen(head[i]));
    return load<T>(lanes);
  }
  /// The processor does not see where reading goes on behind a head.
  void fetch(int64_t j) const {
    for (int64_t d = 0; d < headDim; d += 64 / int64_t(sizeof(In)))
      __builtin_prefetch(at(j) + d, 0, 2);
  }
};

/// Heads that were copied one behind the other, padded with 0.
template <typename T> struct PackedHeads {
  const T *first;
  int64_t padded;

  const T *at(int64_t j) const { return first + j * padded; }
  int64_t whole() const { return padded; }
  Vec<T> vector(const T *head, int64_t d) const { return load<T>(head + d); }
  Vec<T> rest(const T *head, int64_t d) const { return load<T>(head + d); }
};

/// Scores of `queries` queries, which lie `padded` apart, with a vector's
/// number of positions in all, from j on and before `end`. Rows of scores lie
/// `pitch` apart and have room for a vector behind `end`.
template <typename T, int queries, class Heads>
static inline void scoreTile(const Heads &keys, int64_t j, int64_t end,
                             const T *query, int64_t padded, T *scores,
                             int64_t pitch) {
  constexpr int w = kLanes<T>, each = w / queries;
  decltype(keys.at(0)) key[each];
  for (int i = 0; i < each; ++i)
    key[i] = keys.at(minimum(j + i, end - 1));
  Vec<T> sums[w] = {};
  auto add = [&](int64_t d, const Vec<T>(&x)[each]) {
#pragma GCC unroll 4
    for (int q = 0; q < queries; ++q) {
      const Vec<T> y = load<T>(query + q * padded + d);
#pragma GCC unroll 16
      for (int i = 0; i < each; ++i)
        sums[q * each + i] += x[i] * y;
    }
  };
  Vec<T> x[each];
  int64_t d = 0;
  for (; d < keys.whole(); d += w) {
#pragma GCC unroll 16
    for (int i = 0; i < each; ++i)
      x[i] = keys.vector(key[i], d);
    add(d, x);
  }
  if (d < padded) {
    for (int i = 0; i < each; ++i)
      x[i] = keys.rest(key[i], d);
    add(d, x);
  }
  transpose<T>(sums);
#pragma GCC unroll 4
  for (int step = w / 2; step > 0; step /= 2)
#pragma GCC unroll 8
    for (int i = 0; i < step; ++i)
      sums[i] += sums[i + step];
  for (int q = 0; q < queries; ++q)
    __builtin_memcpy(scores + q * pitch + j,
                     reinterpret_cast<const char *>(sums) +
                         q * each * sizeof(T),
                     each * sizeof(T));
}

/// Scores of all queries with positions [begin, end) of a chunk.
template <typename T, class Heads>
static inline void scoreAll(const Heads &keys, int64_t begin, int64_t end,
                            int64_t queries, const T *query, int64_t padded,
                            T *scores, int64_t pitch) {
  constexpr int w = kLanes<T>;
  int64_t q = 0;
  for (; q + 2 <= queries; q += 2)
    for (int64_t j = begin; j < end; j += w / 2)
      scoreTile<T, 2>(keys, j, end, query + q * padded, padded,
                      scores + q * pitch, pitch);
  if (q < queries)
    for (int64_t j = begin; j < end; j += w)
      scoreTile<T, 1>(keys, j, end, query + q * padded, padded,
                      scores + q * pitch, pitch);
}

/// Adds weighted values of positions [begin, end) to some vectors, from element
/// d on, of the sums of `queries` queries.
template <typename T, int queries, int vectors, class Heads>
static inline void sumTile(const Heads &values, int64_t begin, int64_t end,
                           int64_t d, const T *weights, int64_t pitch, T *sums,
                           int64_t padded) {
  constexpr int w = kLanes<T>;
  Vec<T> own[queries][vectors];
  for (int q = 0; q < queries; ++q)
    for (int v = 0; v < vectors; ++v)
      own[q][v] = load<T>(sums + q * padded + d + v * w);
  for (int64_t j = begin; j < end; ++j) {
    const auto *value = values.at(j);
    Vec<T> x[vectors];
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v)
      x[v] = d + v * w < values.whole() ? values.vector(value, d + v * w)
                                        : values.rest(value, d + v * w);
#pragma GCC unroll 4
    for (int q = 0; q < queries; ++q) {
      const Vec<T> weight = broadcast(weights[q * pitch + j]);
#pragma GCC unroll 8
      for (int v = 0; v < vectors; ++v)
        own[q][v] += x[v] * weight;
    }
  }
  for (int q = 0; q < queries; ++q)
    for (int v = 0; v < vectors; ++v)
      store<T>(sums + q * padded + d + v * w, own[q][v]);
}

/// Sums all elements of a head as sumTile does.
template <typename T, int queries, class Heads>
static inline void sumHead(const Heads &values, int64_t begin, int64_t end,
                           const T *weights, int64_t pitch, T *sums,
                           int64_t padded) {
  constexpr int w = kLanes<T>, many = 8 / queries;
  int64_t d = 0;
  for (; d + many * w <= values.whole(); d += many * w)
    sumTile<T, queries, many>(values, begin, end, d, weights, pitch, sums,
                              padded);
  for (; d < padded; d += w)
    sumTile<T, queries, 1>(values, begin, end, d, weights, pitch, sums, padded);
}

/// Turns scores of positions [begin, end) into exp(score - maximum), and those
/// before and after, up to whole vectors, into 0. Returns what earlier sums are
/// to be multiplied by.
template <typename T>
static inline T weigh(T *scores, int64_t begin, int64_t end, T *top, T *sum) {
  constexpr int w = kLanes<T>;
  const T none = -T(__builtin_inf());
  for (int64_t j = 0; j < begin; ++j)
    scores[j] = none;
  const int64_t last = roundUp(end, w);
  for (int64_t j = end; j < last; ++j)
    scores[j] = none;
  Vec<T> highest = broadcast(*top);
  for (int64_t j = 0; j < last; j += w) {
    const Vec<T> x = load<T>(scores + j);
    highest = (highest > x) | (highest != highest) ? highest : x;
  }
  T most = highest[0];
  for (int i = 1; i < w; ++i)
    most = most > highest[i] || most != most ? most : highest[i];
  const T decay = exponential(broadcast(*top - most))[0];
  Vec<T> sums = {};
  for (int64_t j = 0; j < last; j += w) {
    const Vec<T> e = exponential(load<T>(scores + j) - broadcast(most));
    store<T>(scores + j, e);
    sums += e;
  }
  T total = 0;
  for (int i = 0; i < w; ++i)
    total += sums[i];
  *top = most;
  *sum = *sum * decay + total;
  return decay;
}

} // namespace TESSERA_CPU_TARGET
} // namespace tessera

#endif // TESSERA_RUNTIME_CPU_CACHEDTILES_H
