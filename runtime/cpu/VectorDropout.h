//===- VectorDropout.h - Dropout masks by the vector ------------*- C++ -*-===//
// Philox.h for kLanes indices at once; the bits are the same.
// Included only by the Target*.cpp files, see Simd.h.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CPU_VECTORDROPOUT_H
#define TESSERA_RUNTIME_CPU_VECTORDROPOUT_H

#include "runtime/cpu/AttentionProblem.h"
#include "runtime/cpu/VectorMath.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tessera {
namespace TESSERA_CPU_TARGET {

using Words = Vec<uint64_t>;

/// Returns the products of the low halves of the lanes. The compiler does not
/// find the instruction by itself.
static inline Words multiplyLow(Words a, Words b) {
#if defined(__AVX512F__)
  return (Words)_mm512_mul_epu32((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (Words)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#elif defined(__x86_64__)
  return (Words)_mm_mul_epu32((__m128i)a, (__m128i)b);
#else
  return (a & 0xffffffffu) * (b & 0xffffffffu);
#endif
}

template <int... I>
static inline Vec<uint32_t> oddLanes(Vec<uint32_t> a, Lanes<I...>) {
  return __builtin_shufflevector(a, a, (I | 1)...);
}

/// Returns the upper halves of the lanes (twice). A shuffle, not a shift:
/// multiplications and shifts share a port on Intel's cores.
static inline Words upperHalves(Words a) {
  return (Words)oddLanes((Vec<uint32_t>)a,
                         typename LanesUpTo<kVectorBytes / 4>::Type{});
}

/// The key of every round. Made once, so that no round computes it.
struct PhiloxKeys {
  uint64_t low[10], high[10];

  explicit PhiloxKeys(uint64_t key) {
    for (uint32_t round = 0; round < 10; ++round) {
      low[round] = uint32_t(key) + round * 0x9E3779B9u;
      high[round] = uint32_t(key >> 32) + round * 0xBB67AE85u;
    }
  }
};

/// Returns the first output words, in the low halves of the lanes. The upper
/// halves hold rubbish, which multiplyLow ignores. The third and fourth word
/// are 0 at the start, so round 0 has one product; the last round needs one.
static inline Words philoxWords(Words index, const PhiloxKeys &keys) {
  const Words c0 = Words{} + 0xD2511F53u, c1 = Words{} + 0xCD9E8D57u;
  Words x3 = multiplyLow(index, c0), x1 = {};
  Words x0 = upperHalves(index) ^ keys.low[0],
        x2 = upperHalves(x3) ^ keys.high[0];
#pragma GCC unroll 8
  for (int round = 1; round < 9; ++round) {
    Words p0 = multiplyLow(x0, c0), p1 = multiplyLow(x2, c1);
    x0 = upperHalves(p1) ^ x1 ^ keys.low[round];
    x2 = upperHalves(p0) ^ x3 ^ keys.high[round];
    x1 = p1;
    x3 = p0;
  }
  return upperHalves(multiplyLow(x2, c1)) ^ x1 ^ keys.low[9];
}

template <int... I>
static inline Vec<uint32_t> evenLanes(Words a, Words b, Lanes<I...>) {
  return __builtin_shufflevector((Vec<uint32_t>)a, (Vec<uint32_t>)b,
                                 (I * 2)...);
}

/// words[i] = philox(first + i, key).
static inline void philoxRange(uint64_t first, int64_t count, uint64_t key,
                               uint32_t *words) {
  constexpr int half = kVectorBytes / 8, step = 2 * half;
  const PhiloxKeys keys(key);
  Words lanes;
  for (int i = 0; i < half; ++i)
    lanes[i] = uint64_t(i);
  for (int64_t done = 0; done < count; done += step) {
    const Words index = lanes + (first + uint64_t(done));
    const Vec<uint32_t> found =
        evenLanes(philoxWords(index, keys), philoxWords(index + half, keys),
                  typename LanesUpTo<kVectorBytes / 4>::Type{});
    const int64_t wanted = count - done < step ? count - done : step;
    __builtin_memcpy(words + done, &found, size_t(wanted) * sizeof *words);
  }
}

/// The masks of one vector of a tensor of scores: lane i of keep(t) says
/// whether dropout keeps element first + i * stride + t.
template <typename T> class KeepLanes {
public:
  KeepLanes(const DropoutRule &dropout, uint64_t first, uint64_t stride)
      : keys(dropout.key), threshold(dropout.threshold) {
    for (int part = 0; part < kParts; ++part)
      for (int i = 0; i < kWords; ++i)
        index[part][i] = first + uint64_t(part * kWords + i) * stride;
  }

  /// Returns all ones where kept. The threshold is at least 1 and at most 2^32.
  Vec<Int<T>> keep(uint64_t t) const {
    Words word = philoxWords(index[0] + t, keys);
    if constexpr (kParts == 1)
      return (Vec<Int<T>>)((word & 0xffffffffu) >= threshold);
    else
      return (
          Vec<Int<T>>)(evenLanes(word, philoxWords(index[1] + t, keys),
                                 typename LanesUpTo<kVectorBytes / 4>::Type{}) >
                       uint32_t(threshold - 1));
  }

private:
  static constexpr int kWords = kVectorBytes / 8;
  static constexpr int kParts = kLanes<T> / kWords;

  PhiloxKeys keys;
  uint64_t threshold;
  Words index[kParts];
};

/// Index of element (b, head, query, first key) in the global tensor of scores.
static inline uint64_t dropoutIndex(const AttentionProblem &p, int64_t b,
                                    int64_t head, int64_t query) {
  const uint64_t row = (uint64_t(p.batchStart + b) * uint64_t(p.headsTotal) +
                        uint64_t(p.headStart + head)) *
                           uint64_t(p.queriesTotal) +
                       uint64_t(p.queryStart + query);
  return row * uint64_t(p.allKeys()) + uint64_t(p.keyStart);
}

} // namespace TESSERA_CPU_TARGET
} // namespace tessera

#endif // TESSERA_RUNTIME_CPU_VECTORDROPOUT_H
