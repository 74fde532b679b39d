//===- AttentionBlocks.h - What both directions of attention share --------===//
// Scores are kept transposed, [key][query], so that a softmax row is a lane:
// maxima and sums need no horizontal operation, and keys, values and output
// gradients are read as they lie in memory; only queries are transposed.
// Included only by the Target*.cpp files, see Simd.h.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CPU_ATTENTIONBLOCKS_H
#define TESSERA_RUNTIME_CPU_ATTENTIONBLOCKS_H

#include "runtime/cpu/AttentionProblem.h"
#include "runtime/cpu/MicroKernel.h"
#include "runtime/cpu/Packing.h"
#include "runtime/cpu/VectorDropout.h"

namespace tessera {
namespace TESSERA_CPU_TARGET {

constexpr int64_t kBlock = kAttentionBlock;

/// One square of scores: keys [key, key + keys) against queries [query,
/// query + queries). On the diagonal (causal, first key and query at the same
/// position) whole vectors that the mask hides are neither computed nor read.
/// Other squares that the mask cuts (queries from a slice whose start is no
/// multiple of kBlock, the beginning of a window) are computed whole.
struct Square {
  int64_t key, keys, query, queries;
  int64_t shift;  ///< Query j sees key r where r <= j + shift,
  int64_t window; ///< and, unless it is 0, j + shift - window < r.
  bool masked, diagonal;
  /// The segments from the square's first query (as in QuerySegments) and first
  /// key on; null if all of them are of one segment.
  const int32_t *querySegments, *keySegments;

  /// Returns whether the window hides some key of the square.
  bool windowed() const { return window != 0 && queries - 1 + shift >= window; }
  bool hidesKeys() const { return masked || windowed() || querySegments; }

  /// Returns the keys that some query of vector v sees, or more.
  template <typename T> int64_t keysSeen(int64_t v) const {
    return diagonal ? minimum(keys, (v + 1) * kLanes<T>) : keys;
  }
  /// First key that some query of vector v may not see.
  template <typename T> int64_t maskedFrom(int64_t v) const {
    if (windowed() || querySegments)
      return 0;
    const int64_t first = v * kLanes<T> + shift;
    return first > 0 ? first : 0;
  }
  template <typename T> int64_t vectors() const {
    return ceilDiv(queries, kLanes<T>);
  }
};

/// The squares of one query block are those with keyBegin(...) <= key <
/// keyEnd(...).
static inline int64_t keyBegin(const AttentionProblem &p, int64_t query) {
  const int64_t first = p.firstQuery() + query - p.window + 1;
  return p.window == 0 || first < 0 ? 0 : first / kBlock * kBlock;
}
static inline int64_t keyEnd(const AttentionProblem &p, int64_t query,
                             int64_t queries) {
  return p.causal ? minimum(p.seqK, p.firstQuery() + query + queries) : p.seqK;
}
static inline Square squareAt(const AttentionProblem &p, int64_t key,
                              int64_t keyEnd, int64_t query, int64_t queries) {
  const int64_t keys = minimum(kBlock, keyEnd - key);
  const int64_t shift = p.firstQuery() + query - key;
  return {key,
          keys,
          query,
          queries,
          shift,
          p.window,
          p.causal && shift < keys - 1,
          p.causal && shift == 0,
          nullptr,
          nullptr};
}

/// The segments of a block of queries, for whole vectors: what sees no key, or
/// is no query, is of a segment that no key has.
struct QuerySegments {
  static constexpr int32_t none = INT32_MIN;
  alignas(64) int32_t at[kBlock];

  void load(const AttentionProblem &p, int64_t b, int64_t query,
            int64_t queries) {
    if (!p.segments)
      return;
    const int32_t *from = p.querySegments + b * p.querySegmentRow + query;
    for (int64_t i = 0; i < kBlock; ++i)
      at[i] = i < queries && from[i] >= 0 ? from[i] : none;
  }
};

/// Gives a square its segments. False: no query sees a key, so nothing is to be
/// done.
static inline bool addSegments(const AttentionProblem &p, int64_t b,
                               const QuerySegments &queries, Square *square) {
  if (!p.segments)
    return true;
  const SegmentRange &ofQueries =
      p.queryRanges[b * ceilDiv(p.seqQ, kBlock) + square->query / kBlock];
  const SegmentRange &ofKeys =
      p.keyRanges[b * ceilDiv(p.seqK, kBlock) + square->key / kBlock];
  if (!ofQueries.meets(ofKeys))
    return false;
  if (ofQueries.isOneWith(ofKeys))
    return true;
  square->querySegments = queries.at;
  square->keySegments = p.keySegments + b * p.keySegmentRow + square->key;
  return true;
}

/// out[key][query] = rows(key) . columns(query): the transposed products of
/// scores. `keys` starts at the square's first key.
template <typename T>
static void productByKey(const Square &q, int64_t depth, Rows<T> keys,
                         const T *queriesT, T *out) {
  constexpr int w = kLanes<T>;
  const int64_t vectors = q.vectors<T>();
  if (!q.diagonal)
    return multiply<T>(q.keys, vectors, depth, {keys.data, keys.row, 1},
                       queriesT, kBlock, out, kBlock, Start::Zero);
  for (int64_t r = 0; r < q.keys; r += w)
    multiply<T>(minimum(w, q.keys - r), vectors - r / w, depth,
                {keys.data + r * keys.row, keys.row, 1}, queriesT + r, kBlock,
                out + r * kBlock + r, kBlock, Start::Zero);
}

/// out[query][:] += sum over keys of s[key][query] * values[key][:].
template <typename T>
static void sumOverKeys(const Square &q, const T *s, Rows<T> values, T *out,
                        int64_t padded, Start start) {
  constexpr int w = kLanes<T>;
  const int64_t vectors = padded / w;
  if (!q.diagonal)
    return multiply<T>(q.queries, vectors, q.keys, {s, 1, kBlock}, values.data,
                       values.row, out, padded, start);
  for (int64_t r = 0; r < q.queries; r += w)
    multiply<T>(minimum(w, q.queries - r), vectors, q.keysSeen<T>(r / w),
                {s + r, 1, kBlock}, values.data, values.row, out + r * padded,
                padded, start);
}

/// out[key][:] += sum over queries of s[key][query] * values[query][:].
template <typename T>
static void sumOverQueries(const Square &q, const T *s, Rows<T> values, T *out,
                           int64_t padded) {
  constexpr int w = kLanes<T>;
  const int64_t vectors = padded / w;
  if (!q.diagonal)
    return multiply<T>(q.keys, vectors, q.queries, {s, kBlock, 1}, values.data,
                       values.row, out, padded, Start::Old);
  for (int64_t r = 0; r < q.keys; r += w)
    multiply<T>(minimum(w, q.keys - r), vectors, q.queries - r,
                {s + r * kBlock + r, kBlock, 1}, values.data + r * values.row,
                values.row, out + r * padded, padded, Start::Old);
}

/// Returns the lanes whose segment this is.
template <typename T>
static inline Vec<Int<T>> ofSegment(const int32_t *lanes, int32_t segment) {
  Vec<Int<T>> own;
  for (int i = 0; i < kLanes<T>; ++i)
    own[i] = lanes[i];
  return own == Int<T>(segment);
}

/// Returns the lanes of vector v (queries) that see key r of a square that
/// hides keys.
template <typename T>
static inline Vec<Int<T>> seesKey(const Square &q, int64_t r, int64_t v) {
  Vec<Int<T>> lane;
  for (int i = 0; i < kLanes<T>; ++i)
    lane[i] = i;
  const int64_t first = r - q.shift - v * kLanes<T>;
  if (!q.windowed() && !q.querySegments)
    return lane >= Int<T>(first);
  Vec<Int<T>> seen = ~Vec<Int<T>>{};
  if (q.masked)
    seen = lane >= Int<T>(first);
  if (q.windowed())
    seen &= lane < Int<T>(first + q.window);
  if (q.querySegments)
    seen &= ofSegment<T>(q.querySegments + v * kLanes<T>, q.keySegments[r]);
  return seen;
}

/// Returns the biases of a square's first query and key on: query j and key r
/// have element j - r.
template <typename T>
static inline const T *biasOf(const AttentionProblem &p, const Square &square,
                              int64_t head) {
  return static_cast<const T *>(p.bias) + head * p.biasRow +
         p.distanceAt(square.query, square.key);
}
/// scores += biases.
template <typename T>
static inline void addBias(const AttentionProblem &p, const Square &square,
                           int64_t head, T *scores) {
  const T *bias = biasOf<T>(p, square, head);
  for (int64_t v = 0; v < square.vectors<T>(); ++v)
    for (int64_t r = 0; r < square.keysSeen<T>(v); ++r) {
      T *at = scores + r * kBlock + v * kLanes<T>;
      store<T>(at, load<T>(at) + load<T>(bias + v * kLanes<T> - r));
    }
}
/// scores[key][query] = rows of keys . columns of queries, with biases. `keys`
/// starts at the square's first key.
template <typename T>
static void scoresOf(const AttentionProblem &p, const Square &square,
                     int64_t head, Rows<T> keys, const T *queriesT, T *scores) {
  productByKey<T>(square, p.headDim, keys, queriesT, scores);
  if (p.bias)
    addBias<T>(p, square, head, scores);
}
template <typename T>
static inline T *biasGradientOf(const AttentionProblem &p, const Square &square,
                                int64_t b, int64_t head) {
  return static_cast<T *>(p.dBias) + (b * p.heads + head) * p.biasRow +
         p.distanceAt(square.query, square.key);
}

/// Returns the dropout masks of vector v of a square, by key.
template <typename T>
static inline KeepLanes<T> keepLanes(const AttentionProblem &p,
                                     const Square &square, int64_t b,
                                     int64_t head, int64_t v) {
  return {p.dropoutRule,
          dropoutIndex(p, b, head, square.query + v * kLanes<T>) +
              uint64_t(square.key),
          uint64_t(p.allKeys())};
}

} // namespace TESSERA_CPU_TARGET
} // namespace tessera

#endif // TESSERA_RUNTIME_CPU_ATTENTIONBLOCKS_H
