//===- DropoutMask.h - The mask of dropped probabilities --------*- C++ -*-===//
// The same bits as on the CPU: element (b, n, s, t) is kept where the first
// word of Philox4x32-10 (Salmon et al. 2011, section 3.3) at its global index
// is past the threshold; tessera/abi.h fixes index, counter and key.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_ATTENTION_DROPOUTMASK_H
#define TESSERA_RUNTIME_CUDA_ATTENTION_DROPOUTMASK_H

#include "runtime/cuda/attention/AttentionParams.h"

namespace tessera::cuda {

TSR_HOST_DEVICE constexpr uint32_t philoxWord(uint64_t index, uint64_t key) {
  uint32_t x0 = uint32_t(index), x1 = uint32_t(index >> 32), x2 = 0, x3 = 0;
  uint32_t k0 = uint32_t(key), k1 = uint32_t(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t(x0) * 0xD2511F53u;
    const uint64_t p1 = uint64_t(x2) * 0xCD9E8D57u;
    x0 = uint32_t(p1 >> 32) ^ x1 ^ k0;
    x2 = uint32_t(p0 >> 32) ^ x3 ^ k1;
    x1 = uint32_t(p1);
    x3 = uint32_t(p0);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return x0;
}

/// Index of element (b, head, query, key) of this rank's scores in the global
/// tensor of scores.
TSR_HOST_DEVICE constexpr uint64_t scoreIndex(const AttentionParams &p, int b,
                                              int head, int query, int key) {
  const uint64_t heads = uint64_t(b) * uint64_t(p.headsTotal) + uint64_t(head);
  return p.firstScore + heads * p.headScores +
         uint64_t(query) * uint64_t(p.keysTotal) + uint64_t(key);
}

/// The mask of one head.
struct DropoutMask {
  uint64_t key;        /* identifies the stream */
  uint64_t firstIndex; /* index of the head's element (0, 0) */
  uint32_t lastDropped;
  uint32_t keysTotal;

  TSR_HOST_DEVICE constexpr bool keeps(int query, int t) const {
    return philoxWord(firstIndex + uint64_t(query) * keysTotal + uint64_t(t),
                      key) > lastDropped;
  }
};

/// Reads the key from device memory: it changes from step to step while a
/// captured launch stays the same.
TSR_DEVICE DropoutMask dropoutMask(const AttentionParams &p, int b, int head) {
  return {*p.key, scoreIndex(p, b, head, 0, 0), p.lastDropped,
          uint32_t(p.keysTotal)};
}

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_ATTENTION_DROPOUTMASK_H
