//===- RoutedRows.h - Rows to experts and back ------------------*- C++ -*-===//
// Kernels in which a warp makes a row of the result, or an element of the
// gates' gradient. What they move is bound by memory; sums over experts are
// taken in their order, as on the CPU.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_EXPERTS_ROUTEDROWS_H
#define TESSERA_RUNTIME_CUDA_EXPERTS_ROUTEDROWS_H

#include "runtime/cuda/attention/TileRange.h"
#include "runtime/cuda/experts/RoutedParams.h"
#include "runtime/cuda/experts/RowValues.h"

namespace tessera::cuda {

/// A warp for each expert and token.
struct WarpPerPair : WarpPerRow {
  static Grid grid(const RoutedParams &p) {
    return gridOf(int64_t(p.experts) * p.tokens);
  }
};

template <typename In, typename Out> struct Dispatch : WarpPerPair {
  template <typename Exec>
  static TSR_DEVICE void run(const RoutedParams &p, unsigned char *) {
    const int64_t row = WarpPerRow::row<Exec>();
    if (row >= int64_t(p.experts) * p.tokens)
      return;
    const int expert = int(row / p.tokens), token = int(row % p.tokens);
    const float gate = p.gate(token, expert);
    if (p.places && gate == 0)
      return; // it has no row
    const float factor = p.weighted ? gate : 1.0f;
    const In *from =
        static_cast<const In *>(p.first) + int64_t(token) * p.columns;
    Out *to = p.row(static_cast<Out *>(p.result), expert, token, p.columns);
    overColumns<Exec>(p.columns, p.firstAligned && p.resultAligned,
                      [&](int column, auto width) {
                        constexpr int n = decltype(width)::value;
                        Values<n> v = {};
                        if (gate != 0) {
                          v = load<n>(from + column);
                          TSR_UNROLL
                          for (int i = 0; i < n; ++i)
                            v.x[i] *= factor;
                        }
                        store<Exec>(to + column, v);
                      });
  }
};

template <typename In, typename Out> struct Collect : WarpPerRow {
  static Grid grid(const RoutedParams &p) { return gridOf(p.tokens); }

  template <typename Exec>
  static TSR_DEVICE void run(const RoutedParams &p, unsigned char *) {
    const int token = int(WarpPerRow::row<Exec>());
    if (token >= p.tokens)
      return;
    const In *rows = static_cast<const In *>(p.first);
    Out *to = static_cast<Out *>(p.result) + int64_t(token) * p.columns;
    overColumns<Exec>(p.columns, p.firstAligned && p.resultAligned,
                      [&](int column, auto width) {
                        constexpr int n = decltype(width)::value;
                        Values<n> sum = {};
                        for (int expert = 0; expert < p.experts; ++expert) {
                          const float gate = p.gate(token, expert);
                          if (gate == 0)
                            continue;
                          const float factor = p.weighted ? gate : 1.0f;
                          const Values<n> v = load<n>(
                              p.row(rows, expert, token, p.columns) + column);
                          TSR_UNROLL
                          for (int i = 0; i < n; ++i)
                            sum.x[i] += factor * v.x[i];
                        }
                        store<Exec>(to + column, sum);
                      });
  }
};

/// Result: f32 [tokens, experts], zero where a token is not routed.
template <typename In> struct CollectGradGates : WarpPerPair {
  template <typename Exec>
  static TSR_DEVICE void run(const RoutedParams &p, unsigned char *) {
    const int64_t at = WarpPerRow::row<Exec>();
    if (at >= int64_t(p.experts) * p.tokens)
      return;
    const int token = int(at / p.experts), expert = int(at % p.experts);
    float sum = 0;
    if (p.gates[at] != 0) {
      const In *grad =
          static_cast<const In *>(p.first) + int64_t(token) * p.columns;
      const In *row =
          p.row(static_cast<const In *>(p.second), expert, token, p.columns);
      overColumns<Exec>(p.columns, p.firstAligned && p.secondAligned,
                        [&](int column, auto width) {
                          constexpr int n = decltype(width)::value;
                          const Values<n> a = load<n>(grad + column);
                          const Values<n> b = load<n>(row + column);
                          TSR_UNROLL
                          for (int i = 0; i < n; ++i)
                            sum += a.x[i] * b.x[i];
                        });
      TSR_UNROLL
      for (int distance = kWarp / 2; distance > 0; distance /= 2)
        sum += Exec::shuffleXor(sum, distance);
    }
    if (Exec::thread() % kWarp == 0)
      static_cast<float *>(p.result)[at] = sum;
  }
};

/// Rows of all experts and tokens from compact ones.
template <typename In, typename Out> struct Expand : WarpPerPair {
  template <typename Exec>
  static TSR_DEVICE void run(const RoutedParams &p, unsigned char *) {
    const int64_t row = WarpPerRow::row<Exec>();
    if (row >= int64_t(p.experts) * p.tokens)
      return;
    const int expert = int(row / p.tokens), token = int(row % p.tokens);
    const bool routed = p.routes(token, expert);
    if (!routed && p.continues)
      return; // another round's
    Out *to = static_cast<Out *>(p.result) + row * p.columns;
    overColumns<Exec>(p.columns, p.firstAligned && p.resultAligned,
                      [&](int column, auto width) {
                        constexpr int n = decltype(width)::value;
                        Values<n> v = {};
                        if (routed)
                          v = load<n>(p.row(static_cast<const In *>(p.first),
                                            expert, token, p.columns) +
                                      column);
                        store<Exec>(to + column, v);
                      });
  }
};

/// Writes only what is not routed, whatever the elements are.
struct ZeroUnrouted : WarpPerRow {
  static Grid grid(const UnroutedRows &p) {
    return gridOf(int64_t(p.experts) * p.tokens);
  }

  template <typename Exec>
  static TSR_DEVICE void run(const UnroutedRows &p, unsigned char *) {
    const int64_t row = WarpPerRow::row<Exec>();
    if (row >= int64_t(p.experts) * p.tokens ||
        p.gates[row % p.tokens * p.experts + row / p.tokens] != 0)
      return;
    Bf16 *to = static_cast<Bf16 *>(p.rows) + row * p.rowHalves;
    overColumns<Exec>(int(p.rowHalves), p.aligned, [&](int column, auto width) {
      store<Exec>(to + column, Values<decltype(width)::value>{});
    });
  }
};

/// Compact rows that no expert has. There are few, if any, so a small grid
/// strides over them.
struct ZeroRest : WarpPerRow {
  static constexpr int kMostBlocks = 256;

  static TSR_HOST_DEVICE int blocks(const RestRows &p) {
    const int wanted = ceilDiv(p.count, kWarps);
    return wanted < kMostBlocks ? wanted : kMostBlocks;
  }
  static Grid grid(const RestRows &p) { return {blocks(p), 1, 1}; }

  template <typename Exec>
  static TSR_DEVICE void run(const RestRows &p, unsigned char *) {
    const int64_t step = int64_t(blocks(p)) * kWarps;
    for (int64_t row = *p.routed + WarpPerRow::row<Exec>(); row < p.count;
         row += step)
      overColumns<Exec>(int(p.rowHalves), p.aligned,
                        [&](int column, auto width) {
                          store<Exec>(static_cast<Bf16 *>(p.rows) +
                                          row * p.rowHalves + column,
                                      Values<decltype(width)::value>{});
                        });
  }
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_EXPERTS_ROUTEDROWS_H
