//===- CachedAttention.h - Rows over the cache of their slot ----*- C++ -*-===//
// Online softmax over chunks of positions within a split, then a merge of
// splits, as FlashDecoding (Dao et al. 2023) has it. Chunks and splits begin at
// multiples of their sizes, so what a row computes depends neither on the other
// rows nor on how work is shared. Included only by the Target*.cpp files, see
// Simd.h.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CPU_CACHEDATTENTION_H
#define TESSERA_RUNTIME_CPU_CACHEDATTENTION_H

#include "runtime/cpu/CacheProblem.h"
#include "runtime/cpu/CachedTiles.h"
#include "runtime/cpu/Packing.h"

namespace tessera {
namespace TESSERA_CPU_TARGET {

template <typename T, typename In> class CachedAttention {
public:
  CachedAttention(const CacheProblem &problem, void *memory)
      : p(problem), scratch{static_cast<unsigned char *>(memory)},
        padded(roundUp(p.headDim, kLanes<T>)) {
    const int64_t most = maximum(p.heads, kCacheQueries);
    queries = scratch.template take<T>(most * padded);
    own.take(scratch, most, padded);
    total.take(scratch, most, padded);
    scores = scratch.template take<T>(most * kPitch);
    begins = scratch.template take<int64_t>(most);
    ends = scratch.template take<int64_t>(most);
    packed = scratch.template take<T>(kChunk * padded);
  }

  size_t bytes() const { return scratch.used; }

  void run(const CachePiece &piece) {
    row = piece.group.row;
    rows = piece.group.rows;
    if (rows == 1)
      return runHeads(piece, piece.head, piece.headEnd);
    for (int64_t k = piece.head; k < piece.headEnd; ++k)
      runHeads(piece, k, k + 1);
  }

  /// Merges what the splits of a group left, and stores the means.
  void merge(const CacheGroup &group, int64_t partials) {
    row = group.row;
    rows = group.rows;
    head = 0;
    heads = 1;
    const int64_t splits = p.splitEnd(group) - p.splitBegin(group);
    for (; head < p.kvHeads; ++head) {
      total.clear(queryCount(), padded);
      for (int64_t split = 0; split < splits; ++split) {
        loadPartial(static_cast<const T *>(p.partials) + partials +
                    split * p.partialSize(group));
        mergeSplit();
      }
      finish();
    }
  }

private:
  static constexpr int64_t kChunk = 64;
  /// Positions that are read at once where all key heads are.
  static constexpr int64_t kStep = kLanes<T> > 8 ? kLanes<T> : 8;
  /// Between rows of scores: tiles may write a vector more.
  static constexpr int64_t kPitch = kChunk + kLanes<T>;
  static_assert(kCacheSplit % kChunk == 0);

  /// For each query, a sum of values weighted by exp(score - top), and the sum
  /// of these weights.
  struct Sums {
    T *values, *tops, *weights;
    void take(Scratch &scratch, int64_t queries, int64_t padded) {
      values = scratch.template take<T>(queries * padded);
      tops = scratch.template take<T>(queries);
      weights = scratch.template take<T>(queries);
    }
    void clear(int64_t queries, int64_t padded) {
      for (int64_t i = 0; i < queries * padded; ++i)
        values[i] = 0;
      for (int64_t q = 0; q < queries; ++q) {
        tops[q] = -T(__builtin_inf());
        weights[q] = 0;
      }
    }
  };

  /// Queries are in order of key heads, rows and heads of a group. Where there
  /// are several rows, there is one key head at a time.
  int64_t queryCount() const { return heads * rows * p.group(); }
  int64_t rowOf(int64_t query) const { return query / p.group() % rows; }
  /// Returns the place of a query among all heads of all rows.
  int64_t placeOf(int64_t query) const {
    const int64_t kvHead = head + query / (rows * p.group());
    return (row + rowOf(query)) * p.heads + kvHead * p.group() +
           query % p.group();
  }

  void runHeads(const CachePiece &piece, int64_t first, int64_t end) {
    head = first;
    heads = end - first;
    loadQueries();
    total.clear(queryCount(), padded);
    for (int64_t split = piece.split; split < piece.splitEnd; ++split) {
      own.clear(queryCount(), padded);
      attend(split);
      if (piece.partials >= 0)
        storePartial(static_cast<T *>(p.partials) + piece.partials);
      else
        mergeSplit();
    }
    if (piece.partials < 0)
      finish();
  }

  void loadQueries() {
    for (int64_t q = 0; q < queryCount(); ++q) {
      const int64_t place = placeOf(q);
      const In *from = static_cast<const In *>(p.q) + place / p.heads * p.row +
                       place % p.heads * p.headDim;
      for (int64_t d = 0; d < padded; ++d)
        queries[q * padded + d] =
            d < p.headDim ? T(widen(from[d])) * T(p.scale) : T(0);
    }
  }

  void attend(int64_t split) {
    if (!p.isLive(row))
      return;
    const int64_t begin = maximum(p.firstOf(row), split * kCacheSplit);
    const int64_t end =
        minimum(p.endOf(row + rows - 1), (split + 1) * kCacheSplit);
    for (int64_t at = begin / kChunk * kChunk; at < end; at += kChunk) {
      chunk = {at, maximum(begin - at, 0), minimum(end - at, kChunk)};
      locate();
      if (rows == 1)
        chunkInPlace();
      else
        chunkPacked();
    }
  }

  /// Finds where the chunk's positions lie in a cache, and which of them a
  /// query reads. Places are used again in turn.
  void locate() {
    int64_t place = (chunk.start + chunk.begin) % p.places;
    for (int64_t j = chunk.begin; j < chunk.end; ++j) {
      offsets[j] = ((p.slotStart(row) + place) * p.kvHeads + head) * p.headDim;
      place = place + 1 < p.places ? place + 1 : 0;
    }
    for (int64_t q = 0; q < queryCount(); ++q) {
      const int64_t of = row + rowOf(q);
      begins[q] = maximum(p.firstOf(of) - chunk.start, chunk.begin);
      ends[q] = minimum(p.endOf(of) - chunk.start, chunk.end);
    }
  }

  HeadsInPlace<T, In> inPlace(const void *cache, int64_t ofHead) const {
    return {static_cast<const In *>(cache) + ofHead * p.headDim, offsets,
            p.headDim};
  }

  /// Computes one row: caches are read in the order in which they lie, a few
  /// positions of all key heads at a time.
  void chunkInPlace() {
    for (int64_t j = chunk.begin; j < chunk.end; j += kStep)
      for (int64_t k = 0; k < heads; ++k) {
        const int64_t end = minimum(j + kStep, chunk.end), q = k * p.group();
        scoreAll<T>(inPlace(p.keys, k), j, end, p.group(), queries + q * padded,
                    padded, scores + q * kPitch, kPitch);
        for (int64_t i = j; i < end; ++i)
          inPlace(p.values, k).fetch(i);
      }
    weighAll();
    for (int64_t j = chunk.begin; j < chunk.end; j += kStep)
      for (int64_t k = 0; k < heads; ++k)
        sumQueries(inPlace(p.values, k), j, minimum(j + kStep, chunk.end),
                   k * p.group(), (k + 1) * p.group());
  }

  /// Several rows of a slot, one key head: keys and values are widened and
  /// brought together once for all.
  void chunkPacked() {
    pack(p.keys);
    scoreAll<T>(PackedHeads<T>{packed, padded}, chunk.begin, chunk.end,
                queryCount(), queries, padded, scores, kPitch);
    weighAll();
    pack(p.values);
    sumQueries(PackedHeads<T>{packed, padded}, chunk.begin, chunk.end, 0,
               queryCount());
  }

  void pack(const void *cache) {
    const HeadsInPlace<T, In> heads = inPlace(cache, 0);
    for (int64_t j = chunk.begin; j < chunk.end; ++j) {
      const In *at = heads.at(j);
      T *copy = packed + j * padded;
      int64_t d = 0;
      for (; d < heads.whole(); d += kLanes<T>)
        store<T>(copy + d, heads.vector(at, d));
      if (d < padded)
        store<T>(copy + d, heads.rest(at, d));
    }
  }

  void weighAll() {
    for (int64_t q = 0; q < queryCount(); ++q) {
      const int64_t begin = begins[q], end = ends[q];
      if (begin >= end)
        continue;
      T *of = scores + q * kPitch;
      if (p.biasTable)
        addBias(q, begin, end);
      const T decay = weigh<T>(of, begin, end, own.tops + q, own.weights + q);
      T *sum = own.values + q * padded;
      for (int64_t d = 0; d < padded; d += kLanes<T>)
        store<T>(sum + d, load<T>(sum + d) * broadcast(decay));
    }
  }

  void addBias(int64_t query, int64_t begin, int64_t end) {
    const T *table =
        static_cast<const T *>(p.biasTable) + placeOf(query) % p.heads;
    for (int64_t j = begin; j < end; ++j)
      scores[query * kPitch + j] +=
          table[p.bucketAt(row + rowOf(query), chunk.start + j) * p.heads];
  }

  /// Adds values of positions [first, last) to the sums of queries [query,
  /// end), two at a time where both read them.
  template <class Heads>
  void sumQueries(const Heads &values, int64_t first, int64_t last,
                  int64_t query, int64_t end) {
    for (; query + 2 <= end; query += 2) {
      const int64_t begin = maximum(begins[query], begins[query + 1]);
      const int64_t common = minimum(ends[query], ends[query + 1]);
      for (int64_t q = query; q < query + 2; ++q)
        sum<1>(values, q, maximum(begins[q], first),
               minimum(minimum(begin, ends[q]), last));
      sum<2>(values, query, maximum(begin, first), minimum(common, last));
      for (int64_t q = query; q < query + 2; ++q)
        sum<1>(values, q, maximum(maximum(begin, common), first),
               minimum(ends[q], last));
    }
    if (query < end)
      sum<1>(values, query, maximum(begins[query], first),
             minimum(ends[query], last));
  }

  template <int count, class Heads>
  void sum(const Heads &values, int64_t query, int64_t first, int64_t last) {
    if (first < last)
      sumHead<T, count>(values, first, last, scores + query * kPitch, kPitch,
                        own.values + query * padded, padded);
  }

  /// Adds the split to the total. A query that saw nothing has no weight.
  void mergeSplit() {
    for (int64_t q = 0; q < queryCount(); ++q) {
      if (own.weights[q] == 0)
        continue;
      const T a = total.tops[q], b = own.tops[q];
      const T top = a > b || a != a ? a : b;
      const T before = exponential(broadcast(a - top))[0];
      const T now = exponential(broadcast(b - top))[0];
      total.tops[q] = top;
      total.weights[q] = total.weights[q] * before + own.weights[q] * now;
      T *sum = total.values + q * padded;
      const T *more = own.values + q * padded;
      for (int64_t d = 0; d < padded; d += kLanes<T>)
        store<T>(sum + d, load<T>(sum + d) * broadcast(before) +
                              load<T>(more + d) * broadcast(now));
    }
  }

  /// Returns a query's place in what a split leaves of a group.
  int64_t partialAt(int64_t query) const {
    return (placeOf(query) - row * p.heads) * (p.headDim + 2);
  }

  void storePartial(T *partials) {
    for (int64_t q = 0; q < queryCount(); ++q) {
      T *to = partials + partialAt(q);
      for (int64_t d = 0; d < p.headDim; ++d)
        to[d] = own.values[q * padded + d];
      to[p.headDim] = own.tops[q];
      to[p.headDim + 1] = own.weights[q];
    }
  }

  void loadPartial(const T *partials) {
    for (int64_t q = 0; q < queryCount(); ++q) {
      const T *from = partials + partialAt(q);
      for (int64_t d = 0; d < padded; ++d)
        own.values[q * padded + d] = d < p.headDim ? from[d] : T(0);
      own.tops[q] = from[p.headDim];
      own.weights[q] = from[p.headDim + 1];
    }
  }

  void finish() {
    for (int64_t q = 0; q < queryCount(); ++q) {
      T *mean = total.values + q * padded;
      if (total.weights[q] != 0) // else the sum is 0, too
        for (int64_t d = 0; d < p.headDim; ++d)
          mean[d] /= total.weights[q];
      if (p.weighted)
        storeWeighted(q, mean);
      else
        storeMean(q, mean);
    }
  }

  void storeMean(int64_t query, const T *mean) {
    In *to = static_cast<In *>(p.o) + placeOf(query) * p.headDim;
    for (int64_t d = 0; d < p.headDim; ++d)
      to[d] = Narrow<In, T>::from(mean[d]);
  }

  void storeWeighted(int64_t query, const T *mean) {
    T *to = static_cast<T *>(p.o) + placeOf(query) * (p.headDim + 1);
    for (int64_t d = 0; d < p.headDim; ++d)
      to[d] = mean[d];
    to[p.headDim] = T(__builtin_log(total.weights[query])) + total.tops[query];
  }

  const CacheProblem &p;
  Scratch scratch;
  int64_t padded;
  int64_t row = 0, rows = 0, head = 0, heads = 0;
  /// Positions [start + begin, start + end).
  struct {
    int64_t start, begin, end;
  } chunk = {};
  T *queries, *scores, *packed;
  int64_t *begins, *ends; ///< The range of the chunk that a query reads.
  Sums own, total; ///< The sums of the split, and of all splits before it.
  int64_t offsets[kChunk];
};

} // namespace TESSERA_CPU_TARGET
} // namespace tessera

#endif // TESSERA_RUNTIME_CPU_CACHEDATTENTION_H
