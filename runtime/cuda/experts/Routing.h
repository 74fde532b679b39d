//===- Routing.h - Gates, and who is routed where ---------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_CUDA_EXPERTS_ROUTING_H
#define TESSERA_RUNTIME_CUDA_EXPERTS_ROUTING_H

#include "runtime/cuda/attention/TileRange.h"
#include "runtime/cuda/experts/RoutedRows.h"

#include <cmath>

namespace tessera::cuda {

/// A warp makes the gates of a token; lanes share the experts.
template <typename In> struct TopK : WarpPerRow {
  static Grid grid(const RoutedParams &p) { return gridOf(p.tokens); }

  template <typename Exec>
  static TSR_DEVICE void run(const RoutedParams &p, unsigned char *) {
    const int64_t token = WarpPerRow::row<Exec>();
    if (token >= p.tokens)
      return;
    const In *logits = static_cast<const In *>(p.first) + token * p.experts;
    float *gates = static_cast<float *>(p.result) + token * p.experts;
    const int lane = Exec::thread() % kWarp;
    float top = widen(logits[0]);
    for (int x = lane; x < p.experts; x += kWarp)
      top = Exec::maximum(top, widen(logits[x]));
    TSR_UNROLL
    for (int distance = kWarp / 2; distance > 0; distance /= 2)
      top = Exec::maximum(top, Exec::shuffleXor(top, distance));
    float sum = 0;
    for (int x = lane; x < p.experts; x += kWarp) {
      const float e =
          isChosen(p, logits, x) ? expf(widen(logits[x]) - top) : 0.0f;
      sum += e;
      gates[x] = e;
    }
    TSR_UNROLL
    for (int distance = kWarp / 2; distance > 0; distance /= 2)
      sum += Exec::shuffleXor(sum, distance);
    for (int x = lane; x < p.experts; x += kWarp)
      if (gates[x] != 0) // zero stays zero, also where the sum is NaN
        gates[x] /= sum;
  }

private:
  /// NaN is larger than numbers, so that no more than k are chosen.
  static TSR_DEVICE bool isLarger(float a, float b) {
    return a > b || (a != a && b == b);
  }

  /// Fewer than k come before x: larger ones, and equal ones of a lower index.
  static TSR_DEVICE bool isChosen(const RoutedParams &p, const In *logits,
                                  int x) {
    const float own = widen(logits[x]);
    int before = 0;
    for (int y = 0; y < p.experts; ++y) {
      const float other = widen(logits[y]);
      before += isLarger(other, own) || (y < x && !isLarger(own, other));
    }
    return before < p.k;
  }
};

/// A block takes an expert's tokens of a part: warps count those of their
/// stretch, then number them after those of the warps before. No atomics.
struct BlockPerExpert {
  static constexpr int kThreads = 512, kMinBlocks = 1;
  static constexpr int kWarps = kThreads / kWarp;
  static constexpr int kSharedBytes = kWarps * 4;
  static constexpr int kAhead = 4; /* gates of a lane loaded before use */
  static constexpr int kTurn = kAhead * kWarp;

  static Grid grid(const RoutedParams &p) { return {p.experts, p.parts, 1}; }

protected:
  /// Returns the index of the count of an expert and a part.
  static TSR_DEVICE int countOf(const RoutedParams &p, int expert, int part) {
    return expert * p.parts + part;
  }
  /// Returns where the rows of the block's expert begin among those of its
  /// part.
  template <typename Exec>
  static TSR_DEVICE int firstRow(const RoutedParams &p) {
    int first = 0;
    for (int x = 0; x < Exec::blockX(); ++x)
      first += p.counts[countOf(p, x, Exec::blockY())];
    return first;
  }

  /// Counts of the expert's routed tokens.
  struct Count {
    int before, all; /* those of the warps before; of all warps */
  };

  /// Counts for each thread of the block.
  template <typename Exec>
  static TSR_DEVICE Count count(const RoutedParams &p, unsigned char *shared) {
    int *counts = reinterpret_cast<int *>(shared);
    const int warp = Exec::thread() / kWarp;
    int own = 0;
    overTokens<Exec>(
        p, [&](int, uint32_t routed) { own += Exec::countBits(routed); });
    if (Exec::thread() % kWarp == 0)
      Exec::storeShared(counts + warp, own);
    Exec::barrier();
    Count result = {};
    for (int w = 0; w < kWarps; ++w) {
      const int each = Exec::loadShared(counts + w);
      result.before += w < warp ? each : 0;
      result.all += each;
    }
    return result;
  }

  /// body(number, token) for the lane's routed tokens; those of its warp are
  /// numbered from `next` on.
  template <typename Exec, typename Body>
  static TSR_DEVICE void number(const RoutedParams &p, int next,
                                const Body &body) {
    const int lane = Exec::thread() % kWarp;
    overTokens<Exec>(p, [&](int token, uint32_t routed) {
      if (routed >> lane & 1)
        body(next + Exec::countBits(routed & ((1u << lane) - 1)), token);
      next += Exec::countBits(routed);
    });
  }

private:
  /// body(token of the lane, mask of the warp's lanes that are routed).
  template <typename Exec, typename Body>
  static TSR_DEVICE void overTokens(const RoutedParams &p, const Body &body) {
    const int tokens = p.tokens / p.parts;
    const int64_t part = int64_t(Exec::blockY()) * tokens;
    const int stretch = ceilDiv(tokens, kWarps * kTurn) * kTurn;
    const int64_t begin = part + int64_t(Exec::thread() / kWarp) * stretch;
    const int64_t wanted = begin + stretch;
    const int end = int(wanted < part + tokens ? wanted : part + tokens);
    for (int64_t t = begin; t < end; t += kTurn) {
      const int first = int(t) + Exec::thread() % kWarp;
      bool routed[kAhead];
      TSR_UNROLL
      for (int i = 0; i < kAhead; ++i)
        routed[i] = first + i * kWarp < end &&
                    p.routes(first + i * kWarp, Exec::blockX());
      TSR_UNROLL
      for (int i = 0; i < kAhead; ++i)
        body(first + i * kWarp, Exec::ballot(routed[i]));
    }
  }
};

/// Rows that are not compact: counts, and the tokens of each expert.
struct ListRows : BlockPerExpert {
  template <typename Exec>
  static TSR_DEVICE void run(const RoutedParams &p, unsigned char *shared) {
    const Count tokens = count<Exec>(p, shared);
    if (Exec::thread() == 0)
      p.counts[Exec::blockX()] = tokens.all;
    int *list = p.lists + int64_t(Exec::blockX()) * p.tokens;
    number<Exec>(p, tokens.before, [&](int at, int t) { list[at] = t; });
  }
};

struct CountRows : BlockPerExpert {
  template <typename Exec>
  static TSR_DEVICE void run(const RoutedParams &p, unsigned char *shared) {
    const Count tokens = count<Exec>(p, shared);
    if (Exec::thread() == 0)
      p.counts[countOf(p, Exec::blockX(), Exec::blockY())] = tokens.all;
  }
};

/// Finds the places of compact rows after CountRows: an expert's lie behind
/// those of the experts before it.
struct PlaceRows : BlockPerExpert {
  template <typename Exec>
  static TSR_DEVICE void run(const RoutedParams &p, unsigned char *shared) {
    const int expert = Exec::blockX(), start = firstRow<Exec>(p);
    const int end = start + p.counts[expert];
    // A router that chooses k experts never sends more than there is room for.
    Exec::expect(end <= p.rows, "gates route more rows than the buffer has");
    if (Exec::thread() == 0) {
      p.starts[expert] = start;
      if (expert + 1 == p.experts)
        p.starts[p.experts] = end;
    }
    if (!p.places)
      return;
    int *places = p.places + int64_t(expert) * p.tokens;
    number<Exec>(p, start + count<Exec>(p, shared).before,
                 [&](int at, int t) { places[t] = at; });
  }
};

/// After CountRows: the first `rows` rows of a part are of round 1, and so on.
struct NumberRounds : BlockPerExpert {
  template <typename Exec>
  static TSR_DEVICE void run(const RoutedParams &p, unsigned char *shared) {
    const int expert = Exec::blockX(), tokens = p.tokens / p.parts;
    float *numbers = static_cast<float *>(p.result);
    auto numberOf = [&](int token) -> float & {
      return numbers[int64_t(token) * p.experts + expert];
    };
    for (int i = Exec::thread(); i < tokens; i += kThreads)
      if (const int t = Exec::blockY() * tokens + i; !p.routes(t, expert))
        numberOf(t) = 0;
    number<Exec>(p, firstRow<Exec>(p) + count<Exec>(p, shared).before,
                 [&](int at, int t) { numberOf(t) = float(1 + at / p.rows); });
    if (p.taken && expert == 0 && Exec::blockY() == 0 && Exec::thread() == 0)
      note(p);
  }

private:
  /// Calls come one after the other.
  static TSR_DEVICE void note(const RoutedParams &p) {
    int most = 0;
    for (int part = 0; part < p.parts; ++part) {
      int rows = 0;
      for (int x = 0; x < p.experts; ++x)
        rows += p.counts[countOf(p, x, part)];
      most = rows > most ? rows : most;
    }
    const int rounds = ceilDiv(most, p.rows);
    *p.taken = rounds > *p.taken ? rounds : *p.taken;
  }
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_EXPERTS_ROUTING_H
