//===- SplitAttention.h - A row over the cache of its slot ------*- C++ -*-===//
// FlashDecoding (Dao et al. 2023, "Flash-Decoding for long-context inference"):
// a row's positions are cut into splits, which are blocks of their own, and
// their means are merged (MergeMeans.h). Where splits begin depends on the row
// alone and on sizes, so a row has the same bits whatever the other rows are. A
// block reads each key and value once for up to eight query heads.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_CACHES_SPLITATTENTION_H
#define TESSERA_RUNTIME_CUDA_CACHES_SPLITATTENTION_H

#include "runtime/cuda/attention/AttentionParams.h"
#include "runtime/cuda/attention/TileRange.h"
#include "runtime/cuda/caches/CacheParams.h"
#include "runtime/cuda/experts/RowValues.h"

namespace tessera::cuda {

/// Positions between two steps of the online softmax.
constexpr int kCacheChunk = 64;

/// Returns how many query heads of a key head a block takes at once.
TSR_HOST_DEVICE constexpr int queryTile(int64_t group) {
  return group == 1 ? 1 : group <= 4 ? 4 : 8;
}

/// D: headDim, padded to 64, 128 or 256; G: queryTile. Keys and values lie
/// where they are: eight lanes share a key, 16 bytes each, and a thread sums 16
/// bytes of the values of some positions.
template <typename T, int D, int G> struct SplitAttention {
  static constexpr int kThreads = 128, kMinBlocks = G == 8 ? 3 : 4;
  static constexpr int kWarps = kThreads / kWarp;
  static constexpr int kVec = 16 / int(sizeof(T));
  static constexpr int kAcross = 8, kKeys = kThreads / kAcross;
  static constexpr int kColumns = D / kVec, kRows = kThreads / kColumns;
  static constexpr int kOwn = ceilDiv(G, kWarps); /* heads of a warp */
  static constexpr int kSums = kRows * D;
  /// Queries, scores, decays, then a head's sum, maximum and sums by threads.
  static constexpr int kSharedBytes =
      (G * D + G * kCacheChunk + G + 2 * G + kSums) * 4;

  static Grid grid(const CachedAttentionParams &p) {
    return {int(p.of.count), p.kvHeads * ceilDiv(p.group(), G), p.splits};
  }

  struct Shared {
    float *queries, *scores, *decays, *totals, *tops, *sums;
  };
  /// The part of a cache that a block attends to.
  struct Place {
    int64_t row;
    int keyHead, first, heads; /* query heads: the first, how many */
    int64_t slot;              /* begin in the cache, in places */
    int place, count;          /* place of the first position; number of
                                  positions */
    int last, held; /* the row's position; the number of the first position
                       among those that the rank has */
  };
  struct State {
    float out[G][kVec];
    float top[kOwn], sum[kOwn]; /* for the warp's own heads */
  };

  template <typename Exec>
  static TSR_DEVICE void run(const CachedAttentionParams &p,
                             unsigned char *memory) {
    const Shared shared = layOut(memory);
    const Place at = placeOf<Exec>(p);
    if (at.count == 0 && p.parts)
      return writeNothing<Exec>(p, at);
    loadQueries<Exec>(p, at, shared);
    State state = {};
    TSR_UNROLL
    for (int i = 0; i < kOwn; ++i)
      state.top[i] = -__builtin_huge_valf();
    TSR_NO_UNROLL
    for (int first = 0; first < at.count; first += kCacheChunk) {
      const int left = at.count - first;
      const int count = left < kCacheChunk ? left : kCacheChunk;
      Exec::barrier(); // queries are there, the last weights are not read
      score<Exec>(p, at, shared, first, count);
      Exec::barrier();
      softmax<Exec>(shared, count, state);
      Exec::barrier();
      addValues<Exec>(p, at, shared, first, count, state);
    }
    finish<Exec>(p, at, shared, state);
  }

private:
  static TSR_DEVICE Shared layOut(unsigned char *memory) {
    Shared s;
    s.queries = reinterpret_cast<float *>(memory);
    s.sums = s.queries + G * D;
    s.scores = s.sums + kSums;
    s.decays = s.scores + G * kCacheChunk;
    s.totals = s.decays + G;
    s.tops = s.totals + G;
    return s;
  }

  template <typename Exec>
  static TSR_DEVICE Place placeOf(const CachedAttentionParams &p) {
    const int tiles = ceilDiv(p.group(), G);
    const int tile = Exec::blockY() % tiles, left = p.group() - tile * G;
    Place at = {};
    at.row = Exec::blockX();
    at.keyHead = Exec::blockY() / tiles;
    at.first = at.keyHead * p.group() + tile * G;
    at.heads = left < G ? left : G;
    if (!p.of.isLive(at.row))
      return at;
    const bool exists = p.of.exists(at.row);
    Exec::expect(exists, "cached_attention: a row has no such slot or "
                         "position");
    if (!exists)
      return at;
    const int last = p.of.positionOf[at.row];
    const int from = p.window != 0 && last >= p.window
                         ? p.of.heldBelow(last - p.window + 1)
                         : 0;
    const int end = p.of.heldBelow(last + 1);
    Exec::expect(end - from <= p.of.places &&
                     (end - from - 1) / p.splitLength < p.splits,
                 "cached_attention: a row reads more positions than places");
    const int begin = from + Exec::blockZ() * p.splitLength;
    const int count = end - begin < p.splitLength ? end - begin : p.splitLength;
    at.last = last;
    at.held = begin;
    at.slot = p.of.slotStart(at.row);
    at.place = begin % p.of.places;
    at.count = count < 0 ? 0 : count;
    return at;
  }

  /// Stores a split of no position: its mean is not read.
  template <typename Exec>
  static TSR_DEVICE void writeNothing(const CachedAttentionParams &p,
                                      const Place &at) {
    for (int h = Exec::thread(); h < at.heads; h += kThreads)
      partOf(p, p.parts, Exec::blockZ(), at, h)[p.headDim] =
          -__builtin_huge_valf();
  }

  static TSR_DEVICE float *partOf(const CachedAttentionParams &p, float *parts,
                                  int split, const Place &at, int h) {
    return parts + ((split * p.of.count + at.row) * p.heads + at.first + h) *
                       (p.headDim + 1);
  }

  /// Scaled, with zeros behind the head and of heads that do not exist.
  template <typename Exec>
  static TSR_DEVICE void loadQueries(const CachedAttentionParams &p,
                                     const Place &at, const Shared &shared) {
    const T *q = static_cast<const T *>(p.q) + at.row * p.row +
                 int64_t(at.first) * p.headDim;
    for (int i = Exec::thread(); i < G * D; i += kThreads) {
      const int h = i / D, d = i % D;
      const bool exists = h < at.heads && d < p.headDim;
      Exec::storeShared(
          shared.queries + i,
          exists ? widen(q[int64_t(h) * p.headDim + d]) * p.scaleLog2 : 0.0f);
    }
  }

  /// Loads elements of a position's key or value; zero behind the head.
  static TSR_DEVICE Values<kVec> elements(const CachedAttentionParams &p,
                                          const Place &at, const void *cache,
                                          int position, int column) {
    const int next = at.place + position;
    const int place = next < p.of.places ? next : next - p.of.places;
    const T *from = static_cast<const T *>(cache) +
                    ((at.slot + place) * p.kvHeads + at.keyHead) * p.headDim +
                    column;
    if (p.aligned && column < p.headDim)
      return load<kVec>(from);
    Values<kVec> v = {};
    TSR_UNROLL
    for (int i = 0; i < kVec; ++i)
      if (column + i < p.headDim)
        v.x[i] = widen(from[i]);
    return v;
  }

  template <typename Exec>
  static TSR_DEVICE void score(const CachedAttentionParams &p, const Place &at,
                               const Shared &shared, int first, int count) {
    const int lane = Exec::thread() % kAcross;
    TSR_NO_UNROLL
    for (int i = 0; i < kCacheChunk / kKeys; ++i) {
      const int position = i * kKeys + Exec::thread() / kAcross;
      const bool exists = position < count;
      float sums[G] = {};
      TSR_UNROLL
      for (int j = 0; j < D / (kAcross * kVec); ++j) {
        const int column = (j * kAcross + lane) * kVec;
        Values<kVec> key = {};
        if (exists)
          key = elements(p, at, p.keys, first + position, column);
        TSR_UNROLL
        for (int h = 0; h < G; ++h)
          sums[h] += dot<Exec>(key, shared.queries + h * D + column);
      }
      TSR_UNROLL
      for (int h = 0; h < G; ++h) {
        TSR_UNROLL
        for (int distance = 1; distance < kAcross; distance *= 2)
          sums[h] += Exec::shuffleXor(sums[h], distance);
        if (exists && lane == h % kAcross)
          Exec::storeShared(shared.scores + h * kCacheChunk + position,
                            sums[h] + biasOf<Exec>(p, at, first + position));
      }
    }
  }

  /// Times log2(e). With biases a key head has one query head.
  template <typename Exec>
  static TSR_DEVICE float biasOf(const CachedAttentionParams &p,
                                 const Place &at, int position) {
    if constexpr (G > 1)
      return 0;
    if (p.bias.buckets == 0)
      return 0;
    const int distance =
        at.last - ((at.held + position) * p.of.deal + p.of.ordinal);
    return Exec::loadConstant(p.bias.table +
                              int64_t(p.bias.bucketOf(distance)) * p.heads +
                              at.first) *
           kLog2E;
  }

  template <typename Exec>
  static TSR_DEVICE float dot(const Values<kVec> &key, const float *query) {
    float sum = 0;
    TSR_UNROLL
    for (int i = 0; i < kVec / 4; ++i) {
      const Float4 four =
          Exec::loadShared(reinterpret_cast<const Float4 *>(query) + i);
      TSR_UNROLL
      for (int e = 0; e < 4; ++e)
        sum += key.x[i * 4 + e] * four.x[e];
    }
    return sum;
  }

  /// Turns scores into 2^(score - maximum), a warp for each head.
  template <typename Exec>
  static TSR_DEVICE void softmax(const Shared &shared, int count,
                                 State &state) {
    const int lane = Exec::thread() % kWarp;
    TSR_UNROLL
    for (int i = 0; i < kOwn; ++i) {
      const int h = i * kWarps + Exec::thread() / kWarp;
      if (h >= G)
        continue;
      float *scores = shared.scores + h * kCacheChunk;
      const bool hasLow = lane < count, hasHigh = lane + kWarp < count;
      float low = -__builtin_huge_valf(), high = low;
      if (hasLow)
        low = Exec::loadShared(scores + lane);
      if (hasHigh)
        high = Exec::loadShared(scores + lane + kWarp);
      float top = Exec::maximum(state.top[i], Exec::maximum(low, high));
      TSR_UNROLL
      for (int distance = 1; distance < kWarp; distance *= 2)
        top = Exec::maximum(top, Exec::shuffleXor(top, distance));
      const float decay = Exec::exp2(state.top[i] - top);
      low = Exec::exp2(low - top);
      high = Exec::exp2(high - top);
      float sum = low + high;
      TSR_UNROLL
      for (int distance = 1; distance < kWarp; distance *= 2)
        sum += Exec::shuffleXor(sum, distance);
      if (hasLow)
        Exec::storeShared(scores + lane, low);
      if (hasHigh)
        Exec::storeShared(scores + lane + kWarp, high);
      if (lane == 0)
        Exec::storeShared(shared.decays + h, decay);
      state.top[i] = top;
      state.sum[i] = state.sum[i] * decay + sum;
    }
  }

  template <typename Exec>
  static TSR_DEVICE void addValues(const CachedAttentionParams &p,
                                   const Place &at, const Shared &shared,
                                   int first, int count, State &state) {
    const int column = Exec::thread() % kColumns * kVec;
    TSR_UNROLL
    for (int h = 0; h < G; ++h) {
      const float decay = Exec::loadShared(shared.decays + h);
      TSR_UNROLL
      for (int e = 0; e < kVec; ++e)
        state.out[h][e] *= decay;
    }
    TSR_NO_UNROLL
    for (int j = Exec::thread() / kColumns; j < count; j += kRows) {
      const Values<kVec> value = elements(p, at, p.values, first + j, column);
      TSR_UNROLL
      for (int h = 0; h < G; ++h) {
        const float weight =
            Exec::loadShared(shared.scores + h * kCacheChunk + j);
        TSR_UNROLL
        for (int e = 0; e < kVec; ++e)
          state.out[h][e] += weight * value.x[e];
      }
    }
  }

  /// Adds the threads' sums, head by head, and divides.
  template <typename Exec>
  static TSR_DEVICE void finish(const CachedAttentionParams &p, const Place &at,
                                const Shared &shared, const State &state) {
    TSR_UNROLL
    for (int i = 0; i < kOwn; ++i) {
      const int h = i * kWarps + Exec::thread() / kWarp;
      if (h >= G || Exec::thread() % kWarp != 0)
        continue;
      Exec::storeShared(shared.totals + h, state.sum[i]);
      Exec::storeShared(shared.tops + h, state.top[i]);
    }
    TSR_UNROLL
    for (int h = 0; h < G; ++h) {
      Exec::barrier(); // the sums of the head before are not read any more
      TSR_UNROLL
      for (int e = 0; e < kVec; ++e)
        Exec::storeShared(shared.sums + Exec::thread() * kVec + e,
                          state.out[h][e]);
      Exec::barrier();
      if (h < at.heads)
        write<Exec>(p, at, shared, h);
    }
  }

  template <typename Exec>
  static TSR_DEVICE void write(const CachedAttentionParams &p, const Place &at,
                               const Shared &shared, int h) {
    const float total = Exec::loadShared(shared.totals + h);
    const bool isPart = p.parts || p.weighted;
    float *part = partOf(p, p.parts ? p.parts : static_cast<float *>(p.o),
                         p.parts ? Exec::blockZ() : 0, at, h);
    T *whole =
        static_cast<T *>(p.o) + (at.row * p.heads + at.first + h) * p.headDim;
    for (int d = Exec::thread(); d < p.headDim; d += kThreads) {
      float sum = 0;
      TSR_UNROLL
      for (int r = 0; r < kRows; ++r)
        sum += Exec::loadShared(shared.sums + r * D + d);
      const float mean = total == 0 ? sum : sum / total;
      if (isPart)
        part[d] = mean;
      else
        whole[d] = Narrow<T>::from(mean);
    }
    if (isPart && Exec::thread() == 0)
      part[p.headDim] =
          (Exec::loadShared(shared.tops + h) + Exec::log2(total)) * kLn2;
  }
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_CACHES_SPLITATTENTION_H
