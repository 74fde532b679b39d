//===- SegmentTiles.h - Attention within documents --------------*- C++ -*-===//
// A query sees only keys of its own segment; -1 is padding, which no query sees
// and which sees no key. Tiles without a common segment are not loaded.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_ATTENTION_SEGMENTTILES_H
#define TESSERA_RUNTIME_CUDA_ATTENTION_SEGMENTTILES_H

#include "runtime/cuda/attention/BackwardPlan.h"
#include "runtime/cuda/attention/Fragment.h"

namespace tessera::cuda {

/// The range of segments of some positions: from `low` to `high`, padding left
/// out. Rounding to float keeps the order of segments: ranges that are apart
/// stay apart or touch, so that at worst a tile is computed in which nothing is
/// seen.
struct SegmentRange {
  float minusLow, high;

  TSR_HOST_DEVICE constexpr bool meets(const SegmentRange &other) const {
    return -minusLow <= other.high && -other.minusLow <= high;
  }
};

/// Returns the range of positions [first, end). All lanes of a warp must call
/// it and get the same.
template <typename Exec>
TSR_DEVICE SegmentRange segmentRange(const int32_t *segments, int first,
                                     int end) {
  SegmentRange range = {-__builtin_huge_valf(), -__builtin_huge_valf()};
  TSR_NO_UNROLL
  for (int i = first + Exec::thread() % kWarp; i < end; i += kWarp)
    if (segments[i] >= 0) {
      range.minusLow = Exec::maximum(range.minusLow, -float(segments[i]));
      range.high = Exec::maximum(range.high, float(segments[i]));
    }
  TSR_UNROLL
  for (int distance = 1; distance < kWarp; distance *= 2) {
    range.minusLow = Exec::maximum(range.minusLow,
                                   Exec::shuffleXor(range.minusLow, distance));
    range.high =
        Exec::maximum(range.high, Exec::shuffleXor(range.high, distance));
  }
  return range;
}

/// Tells which tiles of the streamed side a block leaves out; without segments
/// none. All threads of the block agree.
template <Form F, Side Owned> struct SegmentTiles {
  const int32_t *streamed;
  int end;
  SegmentRange own;

  /// Starts for the block that owns positions [first, first + rows) of a
  /// sequence.
  template <typename Exec>
  static TSR_DEVICE SegmentTiles start(const AttentionParams &p, int batch,
                                       int first, int rows) {
    if (!isMasked(F))
      return {};
    constexpr bool ownsKeys = Owned == Side::Keys;
    const int32_t *queries = p.querySegmentsOf(batch),
                  *keys = p.keySegmentsOf(batch);
    const int ownEnd = ownsKeys ? p.seqK : p.seqQ;
    const int last = first + rows < ownEnd ? first + rows : ownEnd;
    return {ownsKeys ? queries : keys, ownsKeys ? p.seqQ : p.seqK,
            segmentRange<Exec>(ownsKeys ? keys : queries, first, last)};
  }

  template <typename Exec>
  TSR_DEVICE bool leavesOut(int first, int positions) const {
    if (!isMasked(F))
      return false;
    const int last = first + positions < end ? first + positions : end;
    return !own.meets(segmentRange<Exec>(streamed, first, last));
  }
};

/// Returns whether a query does not see a key, or there is none. The query need
/// not exist.
template <Form F>
TSR_HOST_DEVICE bool isHidden(const AttentionParams &p, int batch, int query,
                              int key) {
  if (planeOf(p).hides(query, key))
    return true;
  if (!isMasked(F) || query >= p.seqQ)
    return false;
  const int32_t segment = p.keySegmentsOf(batch)[key];
  return segment < 0 || segment != p.querySegmentsOf(batch)[query];
}

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_ATTENTION_SEGMENTTILES_H
