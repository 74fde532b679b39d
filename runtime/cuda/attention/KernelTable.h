//===- KernelTable.h - Which kernels a call runs ----------------*- C++ -*-===//
// The choice by dtype, head_dim and dropout, and the order of launches. The
// launcher is a parameter: a stream on a GPU (Launch.h), an emulator in tests.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_CUDA_ATTENTION_KERNELTABLE_H
#define TESSERA_CUDA_ATTENTION_KERNELTABLE_H

#include "Bf16Backward.h"
#include "Bf16Forward.h"
#include "F32Backward.h"
#include "F32Forward.h"
#include "RowDot.h"

namespace tessera::cuda {

/// Launcher: `Status run<Kernel>(params)`, where Status() is success.
template <typename Launcher>
typename Launcher::Status runF32Forward(const AttentionParams &p,
                                        const Launcher &on) {
  if (p.headDim <= 32)
    return on.template run<F32Forward<32>>(p);
  if (p.headDim <= 64)
    return on.template run<F32Forward<64>>(p);
  return on.template run<F32Forward<128>>(p);
}

template <typename Launcher>
typename Launcher::Status runBf16Forward(const AttentionParams &p,
                                         const Launcher &on) {
  if (p.headDim <= 64)
    return p.dropout ? on.template run<Bf16Forward<64, true>>(p)
                     : on.template run<Bf16Forward<64, false>>(p);
  return p.dropout ? on.template run<Bf16Forward<128, true>>(p)
                   : on.template run<Bf16Forward<128, false>>(p);
}

template <Side S, typename Launcher>
typename Launcher::Status runF32Side(const AttentionParams &p,
                                     const Launcher &on) {
  if (p.headDim <= 32)
    return on.template run<F32Backward<32, S>>(p);
  if (p.headDim <= 64)
    return on.template run<F32Backward<64, S>>(p);
  return on.template run<F32Backward<128, S>>(p);
}

template <Side S, typename Launcher>
typename Launcher::Status runBf16Side(const AttentionParams &p,
                                      const Launcher &on) {
  if (p.headDim <= 64)
    return p.dropout ? on.template run<Bf16Backward<64, S, true>>(p)
                     : on.template run<Bf16Backward<64, S, false>>(p);
  return p.dropout ? on.template run<Bf16Backward<128, S, true>>(p)
                   : on.template run<Bf16Backward<128, S, false>>(p);
}

template <typename Launcher>
typename Launcher::Status runForward(const AttentionParams &p, bool bf16,
                                     const Launcher &on) {
  return bf16 ? runBf16Forward(p, on) : runF32Forward(p, on);
}

/// delta first; then both sides, which do not touch each other's results.
template <typename Launcher>
typename Launcher::Status runBackward(const AttentionParams &p, bool bf16,
                                      const Launcher &on) {
  typename Launcher::Status status = bf16 ? on.template run<RowDot<uint16_t>>(p)
                                          : on.template run<RowDot<float>>(p);
  if (status == typename Launcher::Status())
    status =
        bf16 ? runBf16Side<Side::Keys>(p, on) : runF32Side<Side::Keys>(p, on);
  if (status == typename Launcher::Status())
    status = bf16 ? runBf16Side<Side::Queries>(p, on)
                  : runF32Side<Side::Queries>(p, on);
  return status;
}

} // namespace tessera::cuda

#endif // TESSERA_CUDA_ATTENTION_KERNELTABLE_H
