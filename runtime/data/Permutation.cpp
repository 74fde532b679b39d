//===- Permutation.cpp - a permutation computed on the fly ----------------===//
#include "runtime/data/Data.h"
#include "tessera/abi.h"

namespace tessera {

// A balanced Feistel network permutes the power of four above `size`; values
// outside are permuted again until they fall inside (cycle walking: Black,
// Rogaway, "Ciphers with Arbitrary Finite Domains", 2002), at most 4 times on
// average.
static uint64_t feistel(uint64_t value, int halfBits, uint64_t key) {
  constexpr int rounds = 6;
  uint64_t mask = (uint64_t(1) << halfBits) - 1;
  uint64_t left = value >> halfBits, right = value & mask;
  for (int round = 0; round < rounds; ++round) {
    uint64_t mixed = tsr_abi_mix(right ^ tsr_abi_mix(key + round));
    uint64_t next = left ^ (mixed & mask);
    left = right;
    right = next;
  }
  return (left << halfBits) | right;
}

int64_t permute(int64_t index, int64_t size, uint64_t key) {
  int halfBits = 1;
  while ((uint64_t(1) << (2 * halfBits)) < static_cast<uint64_t>(size))
    ++halfBits;
  uint64_t value = static_cast<uint64_t>(index);
  do
    value = feistel(value, halfBits, key);
  while (value >= static_cast<uint64_t>(size));
  return static_cast<int64_t>(value);
}

} // namespace tessera
