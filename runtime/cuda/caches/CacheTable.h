//===- CacheTable.h - Which kernels a call runs -----------------*- C++ -*-===//
// The choice by dtypes and sizes. The launcher is a parameter: a stream on a
// GPU (CacheKernels.cu), an emulator in tests.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_CACHES_CACHETABLE_H
#define TESSERA_RUNTIME_CUDA_CACHES_CACHETABLE_H

#include "runtime/cuda/caches/AppendRows.h"
#include "runtime/cuda/caches/CacheCall.h"
#include "runtime/cuda/caches/MergeMeans.h"
#include "runtime/cuda/caches/SplitAttention.h"
#include "tessera/abi.h"

namespace tessera::cuda {

template <typename Launcher>
typename Launcher::Status runAppend(const AppendProblem &call,
                                    const Launcher &on) {
  return on.template run<AppendRows>(makeAppendParams(call));
}

template <typename Launcher>
typename Launcher::Status runMerge(const MeansParams &p, bool bf16,
                                   const Launcher &on) {
  return bf16 ? on.template run<MergeMeans<Bf16>>(p)
              : on.template run<MergeMeans<float>>(p);
}

template <typename Launcher>
typename Launcher::Status runMergeMeans(const MeansProblem &call,
                                        const Launcher &on) {
  return runMerge(makeMeansParams(call), call.dtypeOut == TSR_DTYPE_BF16, on);
}

template <typename T, int D, typename Launcher>
typename Launcher::Status attendInTiles(const CachedAttentionParams &p,
                                        const Launcher &on) {
  switch (queryTile(p.group())) {
  case 1:
    return on.template run<SplitAttention<T, D, 1>>(p);
  case 4:
    return on.template run<SplitAttention<T, D, 4>>(p);
  default:
    return on.template run<SplitAttention<T, D, 8>>(p);
  }
}

template <typename T, typename Launcher>
typename Launcher::Status attend(const CachedAttentionParams &p,
                                 const Launcher &on) {
  if (p.headDim <= 64)
    return attendInTiles<T, 64>(p, on);
  return p.headDim <= 128 ? attendInTiles<T, 128>(p, on)
                          : attendInTiles<T, 256>(p, on);
}

/// Requires checkCachedAttention(call) to be "". Launcher: `Status
/// run<Kernel>(params)`, where Status() is success.
template <typename Launcher>
typename Launcher::Status runCachedAttention(const CacheProblem &call,
                                             void *workspace,
                                             const Launcher &on) {
  using Status = typename Launcher::Status;
  const CachedAttentionParams p = makeCachedAttentionParams(call, workspace);
  const bool bf16 = call.dtype == TSR_DTYPE_BF16;
  const Status status = bf16 ? attend<Bf16>(p, on) : attend<float>(p, on);
  if (status != Status() || !p.parts)
    return status;
  return runMerge(meansOf(p), bf16 && !call.weighted, on);
}

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_CACHES_CACHETABLE_H
