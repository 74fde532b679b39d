//===- VectorPhilox.h - Counter-based random words --------------*- C++ -*-===//
// Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2,
// 3", section 3). Counter (index low, index high, 0, 0), key (low, high), first
// output word, as abi.h fixes it: philox(0, 0) = 0x6627E8D5.
// Internal linkage on purpose, see Bf16.h.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CPU_VECTORPHILOX_H
#define TESSERA_RUNTIME_CPU_VECTORPHILOX_H

#include <cstdint>

namespace tessera {

/// First output word of Philox4x32-10 at counter `index` under `key`.
static inline uint32_t philox(uint64_t index, uint64_t key) {
  uint32_t x0 = static_cast<uint32_t>(index);
  uint32_t x1 = static_cast<uint32_t>(index >> 32);
  uint32_t x2 = 0, x3 = 0;
  uint32_t k0 = static_cast<uint32_t>(key);
  uint32_t k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    uint64_t p0 = static_cast<uint64_t>(x0) * 0xD2511F53u;
    uint64_t p1 = static_cast<uint64_t>(x2) * 0xCD9E8D57u;
    x0 = static_cast<uint32_t>(p1 >> 32) ^ x1 ^ k0;
    x2 = static_cast<uint32_t>(p0 >> 32) ^ x3 ^ k1;
    x1 = static_cast<uint32_t>(p1);
    x3 = static_cast<uint32_t>(p0);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return x0;
}

} // namespace tessera

#endif // TESSERA_RUNTIME_CPU_VECTORPHILOX_H
