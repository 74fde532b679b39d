//===- RowDot.h - delta = rowsum(dO O) --------------------------*- C++ -*-===//
// Backward needs one number per row of the output: the mean of dP under P (Dao
// 2023, section 3.1.2). Sixteen lanes share a row of at most 128 columns, eight
// each.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_ATTENTION_ROWDOT_H
#define TESSERA_RUNTIME_CUDA_ATTENTION_ROWDOT_H

#include "runtime/cuda/attention/TileRange.h"
#include "runtime/cuda/attention/TileView.h"

namespace tessera::cuda {

/// T: float, or uint16_t for the bits of bf16.
template <typename T> struct RowDot {
  static constexpr int kThreads = 256, kMinBlocks = 1, kSharedBytes = 0;
  static constexpr int kLanes = 16, kRows = kThreads / kLanes, kPart = 8;

  static Grid grid(const AttentionParams &p) {
    return {ceilDiv(p.seqQ, kRows), p.heads, p.batch};
  }

  template <typename Exec>
  static TSR_DEVICE void run(const AttentionParams &p, unsigned char *) {
    const int batch = Exec::blockZ(), head = Exec::blockY();
    const int query = Exec::blockX() * kRows + Exec::thread() / kLanes;
    const int column = Exec::thread() % kLanes * kPart;
    float sum = 0;
    if (query < p.seqQ)
      sum =
          partOf<Exec>(p, queryView<const T>(p, p.dO, batch, head, query),
                       queryView<const T>(p, p.o, batch, head, query), column);
    TSR_UNROLL
    for (int distance = kLanes / 2; distance > 0; distance /= 2)
      sum += Exec::shuffleXor(sum, distance);
    if (column == 0 && query < p.seqQ)
      p.delta[p.statistic(batch, head, query)] = sum;
  }

private:
  template <typename Exec>
  static TSR_DEVICE float partOf(const AttentionParams &p,
                                 const TileView<const T> &a,
                                 const TileView<const T> &b, int column) {
    constexpr int perPiece = 16 / sizeof(T);
    float sum = 0;
    TSR_UNROLL
    for (int i = 0; i < kPart; i += perPiece) {
      if (column + i >= p.headDim)
        break;
      if (p.aligned) {
        const Piece x = *reinterpret_cast<const Piece *>(a.at(0, column + i));
        const Piece y = *reinterpret_cast<const Piece *>(b.at(0, column + i));
        sum += dot<Exec>(x, y, static_cast<T *>(nullptr));
        continue;
      }
      TSR_UNROLL
      for (int e = i; e < i + perPiece; ++e)
        if (column + e < p.headDim)
          sum += widen<Exec>(*a.at(0, column + e)) *
                 widen<Exec>(*b.at(0, column + e));
    }
    return sum;
  }

  template <typename Exec> static TSR_DEVICE float widen(float x) { return x; }
  template <typename Exec> static TSR_DEVICE float widen(uint16_t bits) {
    return Exec::bitsToFloat(uint32_t(bits) << 16);
  }

  template <typename Exec>
  static TSR_DEVICE float dot(const Piece &x, const Piece &y, float *) {
    float sum = 0;
    TSR_UNROLL
    for (int i = 0; i < 4; ++i)
      sum += Exec::bitsToFloat(x.words[i]) * Exec::bitsToFloat(y.words[i]);
    return sum;
  }
  template <typename Exec>
  static TSR_DEVICE float dot(const Piece &x, const Piece &y, uint16_t *) {
    float sum = 0;
    TSR_UNROLL
    for (int i = 0; i < 4; ++i) {
      sum += Exec::bitsToFloat(x.words[i] << 16) *
             Exec::bitsToFloat(y.words[i] << 16);
      sum += Exec::bitsToFloat(x.words[i] & 0xffff0000u) *
             Exec::bitsToFloat(y.words[i] & 0xffff0000u);
    }
    return sum;
  }
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_ATTENTION_ROWDOT_H
