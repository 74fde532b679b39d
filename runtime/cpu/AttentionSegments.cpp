//===- AttentionSegments.cpp - Attention within documents -----------------===//

#include "runtime/cpu/AttentionSegments.h"
#include "tessera/tessera.h"

#include <algorithm>

using namespace tessera;

static int64_t segmentBlocks(int64_t positions) {
  return (positions + kAttentionBlock - 1) / kAttentionBlock;
}

static SegmentRange rangeOf(const int32_t *segments, int64_t count) {
  SegmentRange range{INT32_MAX, -1, false};
  for (int64_t i = 0; i < count; ++i) {
    range.hasPadding |= segments[i] < 0;
    range.high = std::max(range.high, segments[i]);
    if (segments[i] >= 0)
      range.low = std::min(range.low, segments[i]);
  }
  return range;
}

/// Ranges [batch, blocks].
static void rangesOf(const int32_t *segments, int64_t row, int64_t batch,
                     int64_t positions, SegmentRange *out) {
  for (int64_t b = 0; b < batch; ++b, segments += row)
    for (int64_t i = 0; i < positions; i += kAttentionBlock)
      *out++ = rangeOf(segments + i, std::min(kAttentionBlock, positions - i));
}

int32_t tessera::prepareSegments(AttentionProblem *p, void *const *buffers,
                                 Workspace *memory, std::string *error) {
  if (!p->segments)
    return 0;
  const bool slice = p->isSlice();
  p->querySegmentRow = slice ? p->queriesTotal : p->seqQ;
  p->keySegmentRow = slice ? p->keysTotal : p->seqK;
  p->querySegments =
      static_cast<const int32_t *>(buffers[0]) + (slice ? p->queryStart : 0);
  p->keySegments =
      static_cast<const int32_t *>(buffers[1]) + (slice ? p->keyStart : 0);
  const int64_t queryRanges = p->batch * segmentBlocks(p->seqQ);
  const int64_t keyRanges = p->batch * segmentBlocks(p->seqK);
  const size_t bytes = size_t(queryRanges + keyRanges) * sizeof(SegmentRange);
  auto *ranges = static_cast<SegmentRange *>(memory->reserve(bytes));
  if (!ranges) {
    *error = "attention: no memory for " + std::to_string(bytes) +
             " bytes of segments";
    return TSR_OUT_OF_MEMORY;
  }
  rangesOf(p->querySegments, p->querySegmentRow, p->batch, p->seqQ, ranges);
  rangesOf(p->keySegments, p->keySegmentRow, p->batch, p->seqK,
           ranges + queryRanges);
  p->queryRanges = ranges;
  p->keyRanges = ranges + queryRanges;
  return 0;
}
