//===- CacheSuite.h - What every backend of caches must do ------*- C++ -*-===//
// Calls of append, cached_attention and merge_means against the CPU's entries:
// attention against that in f64 of the same values, which the CPU's tests
// compare with a naive softmax. Memory that nobody has written is NaN.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_TEST_RUNTIME_CUDA_CACHES_CACHESUITE_H
#define TESSERA_TEST_RUNTIME_CUDA_CACHES_CACHESUITE_H

#include "test/Runtime/cpu/TestBuffer.h"

#include <functional>
#include <string>

namespace tessera::test {

/// Runs a call of TSR_ENTRY_*: its arguments, its buffers in order, and the
/// number of the one that is written.
using CacheBackend =
    std::function<void(int entry, const std::vector<int64_t> &args,
                       std::vector<Buffer> &buffers, size_t written)>;

struct CacheShape {
  int64_t lanes, slots, places, heads, kvHeads, headDim, window;
  int64_t deal = 1;    ///< ranks that share `places` places of each
  int64_t buckets = 0; ///< for biases by distance

  std::string name() const;
};

/// Odd heads, groups of one to nine heads, windows that go around the places,
/// one place, texts of one and of several splits, biases by distance.
const std::vector<CacheShape> &cacheShapes();

/// Slots that are full, half full, of one position and empty; several rows of a
/// slot, a row of nobody. With several ranks each one's means, and the merged.
void expectAttentionOfCpu(const CacheBackend &backend, const CacheShape &shape,
                          int64_t dtype);
/// A row among others has the bits that it has alone.
void expectRowsAreAlone(const CacheBackend &backend, int64_t dtype);
/// A NaN of a row's query stays in it.
void expectNanStaysInItsRow(const CacheBackend &backend, int64_t dtype);

/// The cache has the CPU's bits, with gaps between rows.
void expectAppendsOfCpu(const CacheBackend &backend, int64_t dtype);
/// Merges 1 to 9 parts, some over nothing, of which only the weight may be
/// read.
void expectMeansOfCpu(const CacheBackend &backend);

} // namespace tessera::test

#endif // TESSERA_TEST_RUNTIME_CUDA_CACHES_CACHESUITE_H
