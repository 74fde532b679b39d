//===- CpuKernels.h - Kernels per instruction set ---------------*- C++ -*-===//
// The same sources are compiled for AVX-512, AVX2 and plain x86-64 (or whatever
// the compiler's baseline is). The best set that the processor has is chosen
// once; tests may choose another.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CPU_CPUKERNELS_H
#define TESSERA_RUNTIME_CPU_CPUKERNELS_H

#include "runtime/cpu/AttentionProblem.h"
#include "runtime/cpu/CacheProblem.h"
#include "runtime/cpu/GemmProblem.h"
#include "runtime/support/CpuPath.h"

#include <cstddef>

namespace tessera {

/// Functions are indexed by TSR_DTYPE_F32, TSR_DTYPE_BF16, TSR_DTYPE_F64.
struct CpuKernels {
  const char *name;
  /// Scratch bytes of one thread for units of at most `keys` keys.
  size_t (*attentionScratch[3])(const AttentionProblem &, int64_t keys);
  void (*attention[3])(const AttentionProblem &, const AttentionUnit &,
                       void *scratch);
  size_t (*attentionBackwardScratch[3])(const AttentionProblem &, int64_t keys);
  void (*attentionBackward[3])(const AttentionProblem &, const AttentionUnit &,
                               void *scratch);
  /// The scratch of one thread, the kernel for one piece, and the merge that
  /// makes the means of a group of rows from what all splits left.
  size_t (*cachedAttentionScratch[3])(const CacheProblem &);
  void (*cachedAttention[3])(const CacheProblem &, const CachePiece &,
                             void *scratch);
  void (*cachedAttentionMerge[3])(const CacheProblem &, const CacheGroup &,
                                  int64_t partials, void *scratch);
  /// Columns of a product of few rows where B is transposed; where it is not,
  /// sums of a slice, and columns from those of all slices.
  void (*fewRows)(const GemmProblem &, int64_t begin, int64_t end);
  void (*fewRowsSlice)(const GemmProblem &, const FewRowsSlice &, float *sums);
  void (*fewRowsMerge)(const GemmProblem &, int64_t slices, const float *sums,
                       int64_t begin, int64_t end);
  /// One thread's part of a product, see BlockedGemm.h.
  size_t (*gemmScratch)(const GemmProblem &, const GemmRegion &);
  void (*gemm)(const GemmProblem &, const GemmRegion &, void *scratch);
  /// words[i] = philox(first + i, key), see Philox.h.
  void (*philoxRange)(uint64_t first, int64_t count, uint64_t key,
                      uint32_t *words);
};

enum class CpuTarget { Baseline = 0, Avx2 = 1, Avx512 = 2 };

/// Returns the kernels in use: the best that the processor can run.
const CpuKernels &cpuKernels();
/// The best target that this processor can run and TESSERA_CPU allows.
CpuTarget bestCpuTarget();
/// Uses `target` (at most bestCpuTarget()) in the whole process; for tests.
void setCpuTarget(CpuTarget target);

/// Makes this process compute as one on a processor whose best path is `most`:
/// with the kernels of that path, and never with the matrix library.
void shareCpuPath(CpuPath most);
/// Returns whether the matrix library may compute products.
bool usesLibrary();

namespace baseline {
extern const CpuKernels kernels;
}
namespace avx2 {
extern const CpuKernels kernels;
}
namespace avx512 {
extern const CpuKernels kernels;
}

} // namespace tessera

#endif // TESSERA_RUNTIME_CPU_CPUKERNELS_H
