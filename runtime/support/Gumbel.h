//===- Gumbel.h - noise that makes a maximum a sample -----------*- C++ -*-===//
// The largest of x + noise is a sample of the softmax of x. Noise is keyed by
// (seed, position, vocabulary index), so no mesh, slot or other request is in
// it.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_SUPPORT_GUMBEL_H
#define TESSERA_RUNTIME_SUPPORT_GUMBEL_H

#include "runtime/support/Philox.h"

#include <cmath>

namespace tessera {

/// Returns the random word from which the noise of an element is made.
inline uint32_t gumbelWord(int64_t seed, int64_t position, int64_t index) {
  return philox(static_cast<uint64_t>(position) << 32 |
                    static_cast<uint32_t>(index),
                static_cast<uint64_t>(seed));
}

/// Returns -log(-log(u)) for the u in (0, 1) that belongs to a word.
inline double gumbelNoise(uint32_t word) {
  return -std::log(-std::log((word + 0.5) / 4294967296.0));
}

/// Returns a bound that is no less than the noise, and much cheaper:
/// -log(-log(u)) <= -log(1 - u), and 1 - u is above 2^-(n + 1) if u begins with
/// n ones.
inline double gumbelBound(uint32_t word) {
  constexpr double ln2 = 0.69314718055994531;
  int ones = ~word == 0 ? 32 : __builtin_clz(~word);
  return (ones + 1) * ln2;
}

} // namespace tessera

#endif // TESSERA_RUNTIME_SUPPORT_GUMBEL_H
