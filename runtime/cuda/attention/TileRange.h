//===- TileRange.h - Which tiles the mask leaves ----------------*- C++ -*-===//
// The plane of scores is cut into tiles. A tile that the mask hides as a whole
// is never loaded (FlashAttention-2, Dao 2023, section 3.1.1, "causal
// masking"); only tiles with a hidden or missing element test their elements.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_ATTENTION_TILERANGE_H
#define TESSERA_RUNTIME_CUDA_ATTENTION_TILERANGE_H

#include "runtime/cuda/HostDevice.h"

namespace tessera::cuda {

/// Rounded up, also below zero.
TSR_HOST_DEVICE constexpr int ceilDiv(int a, int b) {
  return a / b + (a % b > 0);
}

/// Scores of one head: queries x keys. Query 0 stands at position `start` of
/// the keys: the queries may be a slice of them. Where the keys are a slice,
/// too, it may lie before them. Causality hides keys after the query, and then
/// a window, unless it is 0, keys that are so many positions before it.
struct ScorePlane {
  int seqQ, seqK;
  bool causal;
  int start, window;

  TSR_HOST_DEVICE constexpr bool hides(int query, int key) const {
    const int behind = start + query - key;
    return key >= seqK ||
           (causal && (behind < 0 || (window != 0 && behind >= window)));
  }
  TSR_HOST_DEVICE constexpr bool visible(int query, int key) const {
    return query < seqQ && !hides(query, key);
  }
};

/// Tiles [begin, end) of one dimension; empty where end <= begin.
struct TileRange {
  int begin, end;

  TSR_HOST_DEVICE constexpr int count() const {
    return end > begin ? end - begin : 0;
  }
};

/// Tiles of `tile` keys of which queries [query, query + queries) see some.
TSR_HOST_DEVICE constexpr TileRange keyTiles(const ScorePlane &plane, int query,
                                             int queries, int tile) {
  int end = plane.seqK;
  if (plane.causal) {
    const int last =
        query + queries < plane.seqQ ? query + queries : plane.seqQ;
    end = plane.start + last < end ? plane.start + last : end;
  }
  const int first =
      plane.window != 0 ? plane.start + query - plane.window + 1 : 0;
  return {first > 0 ? first / tile : 0, first < end ? ceilDiv(end, tile) : 0};
}

/// Tiles of `tile` queries of which some see one of keys [key, key + keys), as
/// far as causality and the window tell.
TSR_HOST_DEVICE constexpr TileRange queryTiles(const ScorePlane &plane, int key,
                                               int keys, int tile) {
  const int first = key > plane.start ? key - plane.start : 0;
  int end = plane.seqQ;
  if (plane.window != 0) {
    const int last = key + keys < plane.seqK ? key + keys : plane.seqK;
    const int seen = last - 1 - plane.start + plane.window;
    end = seen < end ? seen : end;
  }
  return {plane.causal ? first / tile : 0, ceilDiv(end, tile)};
}

/// Returns whether some element of the rectangle is not visible.
TSR_HOST_DEVICE constexpr bool needsMask(const ScorePlane &plane, int query,
                                         int queries, int key, int keys) {
  return query + queries > plane.seqQ || key + keys > plane.seqK ||
         (plane.causal && key + keys - 1 > plane.start + query) ||
         (plane.window != 0 &&
          plane.start + query + queries - 1 - key >= plane.window);
}

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_ATTENTION_TILERANGE_H
