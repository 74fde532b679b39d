//===- BiasKernels.h - Before and after attention with a bias ---*- C++ -*-===//
#ifndef TESSERA_RUNTIME_CUDA_ATTENTION_BIASKERNELS_H
#define TESSERA_RUNTIME_CUDA_ATTENTION_BIASKERNELS_H

#include "runtime/cuda/attention/TileRange.h"
#include "runtime/cuda/attention/TileView.h"

namespace tessera::cuda {

/// table -> byDistance.
struct SpreadBias {
  static constexpr int kThreads = 256, kMinBlocks = 1, kSharedBytes = 0;

  static Grid grid(const AttentionParams &p) {
    return {ceilDiv(p.bias.row, kThreads), p.heads, 1};
  }

  template <typename Exec>
  static TSR_DEVICE void run(const AttentionParams &p, unsigned char *) {
    const int head = Exec::blockY();
    const int i = Exec::blockX() * kThreads + Exec::thread();
    if (i >= p.bias.row)
      return;
    const int distance = p.queryStart + i - kBiasMargin - (p.seqK - 1);
    p.bias.byDistance[int64_t(head) * p.bias.row + i] =
        p.bias.table[p.bias.bucketOf(distance) * p.heads + head] * kLog2E;
  }
};

/// dTable = sums by bucket. A block has one element: a thread adds its entries
/// of every eighth part, then threads add as a tree.
struct GatherBias {
  static constexpr int kThreads = 256, kMinBlocks = 1;
  static constexpr int kSharedBytes = kThreads * 4;
  static constexpr int kLanes = 32, kParts = kThreads / kLanes;

  static Grid grid(const AttentionParams &p) {
    return {p.bias.buckets, p.heads, 1};
  }

  template <typename Exec>
  static TSR_DEVICE void run(const AttentionParams &p, unsigned char *shared) {
    const int bucket = Exec::blockX(), head = Exec::blockY();
    const int thread = Exec::thread();
    float sum = 0;
    for (int entry = thread % kLanes; entry < p.bias.entries();
         entry += kLanes) {
      if (p.bias.bucketOf(p.bias.distanceOf(entry)) != bucket)
        continue;
      for (int64_t part = thread / kLanes; part < p.bias.parts; part += kParts)
        sum += p.bias.sumsOf(head, part)[entry];
    }
    float *sums = reinterpret_cast<float *>(shared);
    Exec::storeShared(sums + thread, sum);
    for (int half = kThreads / 2; half > 0; half /= 2) {
      Exec::barrier();
      if (thread < half)
        Exec::storeShared(sums + thread,
                          Exec::loadShared(sums + thread) +
                              Exec::loadShared(sums + thread + half));
    }
    if (thread == 0)
      p.bias.dTable[bucket * p.heads + head] = Exec::loadShared(sums);
  }
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_ATTENTION_BIASKERNELS_H
