//===- SamplingSuite.h - What every backend of sampling must do -*- C++ -*-===//
// Calls of penalize, top and merge_top have the results of the CPU's entries,
// which the CPU's tests compare with sorted logits.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_TEST_RUNTIME_CUDA_SAMPLING_SAMPLINGSUITE_H
#define TESSERA_TEST_RUNTIME_CUDA_SAMPLING_SAMPLINGSUITE_H

#include "test/Runtime/cuda/caches/CacheSuite.h"

namespace tessera::test {

/// Lists of one, of many and of more than there are; few and many columns; NaN,
/// -inf and equal logits; padding that is NaN.
void expectTopOfCpu(const CacheBackend &backend);
/// Draws with several seeds and positions, and a row without noise. The indices
/// are the CPU's, and scores are to the rounding of a logarithm.
void expectDrawsOfCpu(const CacheBackend &backend);
/// Merges 1 to 9 parts, some of which are not full.
void expectMergedOfCpu(const CacheBackend &backend);
/// Tokens twice, of other ranks and none.
void expectPenaltiesOfCpu(const CacheBackend &backend);

} // namespace tessera::test

#endif // TESSERA_TEST_RUNTIME_CUDA_SAMPLING_SAMPLINGSUITE_H
