//===- CacheProblem.h - The arguments of entries of caches ------*- C++ -*-===//
// append, cached_attention and merge_means, decoded.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CPU_CACHEPROBLEM_H
#define TESSERA_RUNTIME_CPU_CACHEPROBLEM_H

#include "runtime/cpu/AttentionArguments.h"

#include <cstdint>
#include <string>

namespace tessera {

/// Sizes and strides in elements, as TSR_APPEND_* of abi.h.
struct AppendProblem {
  int64_t lanes, rows, slots, places, columns, row, dtype;
  int64_t deal, ordinal; ///< The rank is number `ordinal` of `deal` ranks.
  void *cache;
  const void *from;
  const int32_t *slotOf, *positionOf; ///< [lanes, rows]

  int64_t elementBytes() const;
};

/// Sizes in elements, as TSR_MERGE_MEANS_* of abi.h.
struct MeansProblem {
  int64_t ranks, rows, columns;
  bool weighted;
  int64_t dtypeIn, dtypeOut;
  const void *parts;
  void *means;
};

/// Rows that follow each other in one slot and so read almost the same places,
/// or one row.
struct CacheGroup {
  int64_t row, rows;
};
/// Most queries of a group for one key head, unless one row has more.
constexpr int64_t kCacheQueries = 16;

/// Positions of a split: attention to each is merged with that to the others,
/// so that threads may share a row. Splits begin at multiples of this.
constexpr int64_t kCacheSplit = 256;

/// A call of cached_attention with its buffers.
struct CacheProblem : CachedAttentionArguments {
  /// The rank is number `ordinal` of `deal` ranks.
  int64_t ordinal = 0;
  /// A bias by distance, [BUCKETS, heads]; null: none. Of each distance up to
  /// `maxDistance` its bucket, which is that of all farther ones, too.
  const void *biasTable = nullptr;
  const int32_t *bucketOf = nullptr;
  const void *q, *keys, *values;
  const int32_t *slotOf, *positionOf; ///< [lanes, rows]
  void *o;
  /// The sums that splits leave of the groups that threads share.
  void *partials = nullptr;

  int64_t group() const { return heads / kvHeads; }
  bool isLive(int64_t row) const { return slotOf[row] >= 0; }
  /// Returns how many of the positions below `end` the rank has.
  int64_t heldBelow(int64_t end) const {
    return end <= ordinal ? 0 : (end - ordinal + deal - 1) / deal;
  }
  /// Returns the index, among the positions that the rank has, of the first
  /// that a row reads. `endOf` returns that after the last.
  int64_t firstOf(int64_t row) const {
    const int64_t last = positionOf[row];
    return window != 0 && last >= window ? heldBelow(last - window + 1) : 0;
  }
  int64_t endOf(int64_t row) const {
    return heldBelow(int64_t(positionOf[row]) + 1);
  }
  /// Returns the bucket of the position that the rank has as number `held`,
  /// which the row reads.
  int64_t bucketAt(int64_t row, int64_t held) const {
    const int64_t distance = positionOf[row] - (held * deal + ordinal);
    return bucketOf[distance < maxDistance ? distance : maxDistance];
  }
  /// Returns where the slot of row `row` of all lanes begins in a cache, in
  /// places.
  int64_t slotStart(int64_t row) const {
    return (row / rows * slots + slotOf[row]) * places;
  }

  /// Returns the splits of which rows of a group read something.
  int64_t splitBegin(const CacheGroup &group) const {
    return isLive(group.row) ? firstOf(group.row) / kCacheSplit : 0;
  }
  int64_t splitEnd(const CacheGroup &group) const {
    const int64_t last = group.row + group.rows - 1;
    return isLive(last) ? (endOf(last) + kCacheSplit - 1) / kCacheSplit : 0;
  }
  /// Numbers that a split leaves of a group: of each query a sum, the largest
  /// score, and a weight.
  int64_t partialSize(const CacheGroup &group) const {
    return group.rows * heads * (headDim + 2);
  }
  /// Returns the bytes of a number that sums are computed in.
  int64_t sumBytes() const;
};

/// A thread's unit of work: splits [split, splitEnd) of a group for key heads
/// [head, headEnd).
struct CachePiece {
  CacheGroup group;
  int64_t head, headEnd, split, splitEnd;
  /// The place among CacheProblem::partials where the split leaves its sums, to
  /// be merged with those of other splits; -1: the means are stored.
  int64_t partials;
};

/// Checks and decodes arguments. Returns 0, or non-zero with the reason in
/// *error. `bucketOf` of a CacheProblem stays null.
int32_t decodeAppend(const int64_t *args, void *const *buffers,
                     AppendProblem *out, std::string *error);
int32_t decodeCachedAttention(const int64_t *args, void *const *buffers,
                              CacheProblem *out, std::string *error);
int32_t decodeMergeMeans(const int64_t *args, void *const *buffers,
                         MeansProblem *out, std::string *error);

/// Returns why a live row's slot or position cannot be; empty if they can.
std::string checkRows(const char *entry, int64_t lanes, int64_t rows,
                      int64_t slots, const int32_t *slotOf,
                      const int32_t *positionOf);

} // namespace tessera

#endif // TESSERA_RUNTIME_CPU_CACHEPROBLEM_H
