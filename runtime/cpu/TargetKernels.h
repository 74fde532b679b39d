//===- TargetKernels.h - The kernel table of one target ---------*- C++ -*-===//
// Included once by each Target*.cpp, which defines TESSERA_CPU_TARGET.
//===----------------------------------------------------------------------===//
#include "tessera/abi.h"

#include "runtime/cpu/AttentionForward.h"
#include "runtime/cpu/AttentionGradient.h"
#include "runtime/cpu/BlockedGemm.h"
#include "runtime/cpu/CachedAttention.h"
#include "runtime/cpu/ChunkedGemm.h"
#include "runtime/cpu/CpuKernels.h"
#include "runtime/cpu/FewRowsGemm.h"

namespace tessera {
namespace TESSERA_CPU_TARGET {
namespace {

template <template <typename, typename> class Algorithm, typename T,
          typename In>
struct Attention {
  static size_t scratch(const AttentionProblem &p, int64_t keys) {
    return Algorithm<T, In>(p, keys, nullptr).bytes();
  }
  static void run(const AttentionProblem &p, const AttentionUnit &u,
                  void *memory) {
    Algorithm<T, In>(p, u.keyEnd - u.keyBegin, memory).run(u);
  }
};

template <typename T, typename In> struct Cached {
  static size_t scratch(const CacheProblem &p) {
    return CachedAttention<T, In>(p, nullptr).bytes();
  }
  static void run(const CacheProblem &p, const CachePiece &piece,
                  void *memory) {
    CachedAttention<T, In>(p, memory).run(piece);
  }
  static void merge(const CacheProblem &p, const CacheGroup &group,
                    int64_t partials, void *memory) {
    CachedAttention<T, In>(p, memory).merge(group, partials);
  }
};

template <typename In, typename Out, typename Body>
void withIntegersOrNot(const GemmProblem &p, const Body &body) {
  if (p.int8B)
    body(FewRowsGemm<In, int8_t, Out>(p));
  else
    body(FewRowsGemm<In, In, Out>(p));
}

/// Calls `body` with the algorithm for the problem's types.
template <typename Body>
void withFewRows(const GemmProblem &p, const Body &body) {
  if (p.dtypeAB == TSR_DTYPE_F32)
    withIntegersOrNot<float, float>(p, body);
  else if (p.dtypeC == TSR_DTYPE_F32)
    withIntegersOrNot<Bf16, float>(p, body);
  else
    withIntegersOrNot<Bf16, Bf16>(p, body);
}

void fewRows(const GemmProblem &p, int64_t begin, int64_t end) {
  withFewRows(p, [&](auto gemm) { gemm.run(begin, end); });
}

void fewRowsSlice(const GemmProblem &p, const FewRowsSlice &slice,
                  float *sums) {
  withFewRows(p, [&](const auto &gemm) { gemm.runSlice(slice, sums); });
}

void fewRowsMerge(const GemmProblem &p, int64_t slices, const float *sums,
                  int64_t begin, int64_t end) {
  withFewRows(p, [&](auto gemm) { gemm.merge(slices, sums, begin, end); });
}

size_t gemmScratch(const GemmProblem &p, const GemmRegion &region) {
  if (p.chunks > 0)
    return chunkedScratch(p);
  size_t bytes = 0;
  withBlockedGemm(p, region, nullptr,
                  [&](const auto &gemm) { bytes = gemm.bytes(); });
  return bytes;
}

void gemm(const GemmProblem &p, const GemmRegion &region, void *scratch) {
  if (p.chunks > 0)
    return chunkedGemm(p, region, scratch);
  withBlockedGemm(p, region, scratch, [](auto gemm) { gemm.run(); });
}

template <typename T, typename In>
using Forward = Attention<AttentionForward, T, In>;
template <typename T, typename In>
using Gradient = Attention<AttentionGradient, T, In>;

} // namespace

#define TESSERA_STRINGIFY(x) #x
#define TESSERA_NAME(x) TESSERA_STRINGIFY(x)

extern const CpuKernels kernels = {
    TESSERA_NAME(TESSERA_CPU_TARGET),
    {Forward<float, float>::scratch, Forward<float, Bf16>::scratch,
     Forward<double, double>::scratch},
    {Forward<float, float>::run, Forward<float, Bf16>::run,
     Forward<double, double>::run},
    {Gradient<float, float>::scratch, Gradient<float, Bf16>::scratch,
     Gradient<double, double>::scratch},
    {Gradient<float, float>::run, Gradient<float, Bf16>::run,
     Gradient<double, double>::run},
    {Cached<float, float>::scratch, Cached<float, Bf16>::scratch,
     Cached<double, double>::scratch},
    {Cached<float, float>::run, Cached<float, Bf16>::run,
     Cached<double, double>::run},
    {Cached<float, float>::merge, Cached<float, Bf16>::merge,
     Cached<double, double>::merge},
    fewRows,
    fewRowsSlice,
    fewRowsMerge,
    gemmScratch,
    gemm,
    philoxRange};

} // namespace TESSERA_CPU_TARGET
} // namespace tessera
