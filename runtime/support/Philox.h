//===- Philox.h - counter-based random words --------------------*- C++ -*-===//
// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel Random Numbers: As Easy
// as 1, 2, 3", SC 2011), with the counter and key layout of abi.h:
// philox(0, 0) = 0x6627E8D5. VectorDropout.h computes several words at once,
// DropoutMask.h one on a GPU; tests compare both with this.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_SUPPORT_PHILOX_H
#define TESSERA_RUNTIME_SUPPORT_PHILOX_H

#include <cstdint>

namespace tessera {

/// Returns the first output word of the block with counter (index low, index
/// high, 0, 0).
inline uint32_t philox(uint64_t index, uint64_t key) {
  uint32_t c0 = static_cast<uint32_t>(index);
  uint32_t c1 = static_cast<uint32_t>(index >> 32);
  uint32_t c2 = 0, c3 = 0;
  uint32_t k0 = static_cast<uint32_t>(key);
  uint32_t k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    uint64_t p0 = static_cast<uint64_t>(0xD2511F53u) * c0;
    uint64_t p1 = static_cast<uint64_t>(0xCD9E8D57u) * c2;
    c0 = static_cast<uint32_t>(p1 >> 32) ^ c1 ^ k0;
    c1 = static_cast<uint32_t>(p1);
    c2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c3 = static_cast<uint32_t>(p0);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return c0;
}

} // namespace tessera

#endif // TESSERA_RUNTIME_SUPPORT_PHILOX_H
