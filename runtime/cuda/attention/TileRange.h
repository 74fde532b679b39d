//===- TileRange.h - Which tiles the mask leaves ----------------*- C++ -*-===//
// The plane of scores is cut into tiles. A tile that causality hides as a whole
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
/// too, it may lie before them.
struct ScorePlane {
  int seqQ, seqK;
  bool causal;
  int start;

  TSR_HOST_DEVICE constexpr bool visible(int query, int key) const {
    return query < seqQ && key < seqK && (!causal || key <= start + query);
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
  return {0, ceilDiv(end, tile)};
}

/// Tiles of `tile` queries of which some see a key from `key` on.
TSR_HOST_DEVICE constexpr TileRange queryTiles(const ScorePlane &plane, int key,
                                               int tile) {
  const int first = key > plane.start ? key - plane.start : 0;
  return {plane.causal ? first / tile : 0, ceilDiv(plane.seqQ, tile)};
}

/// Whether some element of the rectangle is not visible.
TSR_HOST_DEVICE constexpr bool needsMask(const ScorePlane &plane, int query,
                                         int queries, int key, int keys) {
  return query + queries > plane.seqQ || key + keys > plane.seqK ||
         (plane.causal && key + keys - 1 > plane.start + query);
}

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_ATTENTION_TILERANGE_H
