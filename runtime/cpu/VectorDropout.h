//===- VectorDropout.h - Dropout masks by the vector ------------*- C++ -*-===//
// Philox.h for kLanes indices at once; the bits are the same.
// Included only by the Target*.cpp files, see Simd.h.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_CPU_VECTORDROPOUT_H
#define TESSERA_CPU_VECTORDROPOUT_H

#include "AttentionProblem.h"
#include "Simd.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tessera {
namespace TESSERA_CPU_TARGET {

using Words = Vec<uint64_t>;

/// Products of the low halves of the lanes. The compiler does not find the
/// instruction by itself.
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

/// First output words, in the low halves of the lanes. The upper halves hold
/// rubbish between rounds, which multiplyLow ignores.
static inline Words philoxWords(Words index, uint64_t key) {
  const Words c0 = Words{} + 0xD2511F53u, c1 = Words{} + 0xCD9E8D57u;
  Words x0 = index, x1 = index >> 32, x2 = {}, x3 = {};
  uint32_t k0 = uint32_t(key), k1 = uint32_t(key >> 32);
  for (int round = 0; round < 10; ++round) {
    Words p0 = multiplyLow(x0, c0), p1 = multiplyLow(x2, c1);
    x0 = (p1 >> 32) ^ x1 ^ uint64_t(k0);
    x2 = (p0 >> 32) ^ x3 ^ uint64_t(k1);
    x1 = p1;
    x3 = p0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return x0 & 0xffffffffu;
}

/// All-ones lanes where dropout keeps elements first, first + stride, ...
template <typename T>
static inline Vec<Int<T>> keepLanes(const Dropout &dropout, uint64_t first,
                                    uint64_t stride) {
  constexpr int words = kVectorBytes / 8;
  Int<T> keep[kLanes<T>];
  Words index;
  for (int i = 0; i < words; ++i)
    index[i] = first + uint64_t(i) * stride;
  for (int half = 0; half < kLanes<T>; half += words) {
    Words kept = (Words)(philoxWords(index, dropout.key) >= dropout.threshold);
    typedef Int<T> Part __attribute__((vector_size(words * sizeof(Int<T>))));
    Part part = __builtin_convertvector(kept, Part);
    __builtin_memcpy(keep + half, &part, sizeof(part));
    index += uint64_t(words) * stride;
  }
  Vec<Int<T>> result;
  __builtin_memcpy(&result, keep, sizeof(result));
  return result;
}

/// Index of element (b, head, query, 0) in the global tensor of scores.
static inline uint64_t dropoutIndex(const AttentionProblem &p, int64_t b,
                                    int64_t head, int64_t query) {
  const Dropout &d = p.dropout;
  const uint64_t row = (uint64_t(d.batchStart + b) * uint64_t(d.headsTotal) +
                        uint64_t(d.headStart + head)) *
                           uint64_t(p.seqQ) +
                       uint64_t(query);
  return row * uint64_t(p.seqK);
}

} // namespace TESSERA_CPU_TARGET
} // namespace tessera

#endif // TESSERA_CPU_VECTORDROPOUT_H
