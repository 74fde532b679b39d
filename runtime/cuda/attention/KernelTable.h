//===- KernelTable.h - Which kernels a call runs ----------------*- C++ -*-===//
// The choice by dtype, head_dim, dropout and form, and the order of launches.
// The launcher is a parameter: a stream on a GPU (Launch.h), an emulator in
// tests.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_ATTENTION_KERNELTABLE_H
#define TESSERA_RUNTIME_CUDA_ATTENTION_KERNELTABLE_H

#include "runtime/cuda/attention/Bf16Backward.h"
#include "runtime/cuda/attention/Bf16Forward.h"
#include "runtime/cuda/attention/BiasKernels.h"
#include "runtime/cuda/attention/F32Backward.h"
#include "runtime/cuda/attention/F32Forward.h"
#include "runtime/cuda/attention/RowDot.h"

namespace tessera::cuda {

/// Launcher: `Status run<Kernel>(params)`, where Status() is success.
template <Form F, typename Launcher>
typename Launcher::Status runF32Forward(const AttentionParams &p,
                                        const Launcher &on) {
  if (p.headDim <= 32)
    return on.template run<F32Forward<32, F>>(p);
  if (p.headDim <= 64)
    return on.template run<F32Forward<64, F>>(p);
  return on.template run<F32Forward<128, F>>(p);
}

template <Form F, typename Launcher>
typename Launcher::Status runBf16Forward(const AttentionParams &p,
                                         const Launcher &on) {
  if (p.headDim <= 64)
    return p.dropout ? on.template run<Bf16Forward<64, true, F>>(p)
                     : on.template run<Bf16Forward<64, false, F>>(p);
  return p.dropout ? on.template run<Bf16Forward<128, true, F>>(p)
                   : on.template run<Bf16Forward<128, false, F>>(p);
}

template <Side S, Form F, typename Launcher>
typename Launcher::Status runF32Side(const AttentionParams &p,
                                     const Launcher &on) {
  if (p.headDim <= 32)
    return on.template run<F32Backward<32, S, F>>(p);
  if (p.headDim <= 64)
    return on.template run<F32Backward<64, S, F>>(p);
  return on.template run<F32Backward<128, S, F>>(p);
}

template <Side S, Form F, typename Launcher>
typename Launcher::Status runBf16Side(const AttentionParams &p,
                                      const Launcher &on) {
  if (p.headDim <= 64)
    return p.dropout ? on.template run<Bf16Backward<64, S, true, F>>(p)
                     : on.template run<Bf16Backward<64, S, false, F>>(p);
  return p.dropout ? on.template run<Bf16Backward<128, S, true, F>>(p)
                   : on.template run<Bf16Backward<128, S, false, F>>(p);
}

template <Form F, typename Launcher>
typename Launcher::Status runForwardOf(const AttentionParams &p, bool bf16,
                                       const Launcher &on) {
  return bf16 ? runBf16Forward<F>(p, on) : runF32Forward<F>(p, on);
}

/// Runs both sides, which do not touch each other's results.
template <Form F, typename Launcher>
typename Launcher::Status runSides(const AttentionParams &p, bool bf16,
                                   const Launcher &on) {
  typename Launcher::Status status = bf16 ? runBf16Side<Side::Keys, F>(p, on)
                                          : runF32Side<Side::Keys, F>(p, on);
  if (status != typename Launcher::Status())
    return status;
  return bf16 ? runBf16Side<Side::Queries, F>(p, on)
              : runF32Side<Side::Queries, F>(p, on);
}

/// Runs a form without segments or its counterpart with them.
template <Form F, Form Masked, typename Launcher>
typename Launcher::Status runForwardOf(const AttentionParams &p, bool bf16,
                                       const Launcher &on) {
  return p.querySegments ? runForwardOf<Masked>(p, bf16, on)
                         : runForwardOf<F>(p, bf16, on);
}
template <Form F, Form Masked, typename Launcher>
typename Launcher::Status runSides(const AttentionParams &p, bool bf16,
                                   const Launcher &on) {
  return p.querySegments ? runSides<Masked>(p, bf16, on)
                         : runSides<F>(p, bf16, on);
}

template <typename Launcher>
typename Launcher::Status runForward(const AttentionParams &p, bool bf16,
                                     const Launcher &on) {
  if (p.slice)
    return runForwardOf<Form::Slice, Form::MaskedSlice>(p, bf16, on);
  if (p.bias.buckets == 0)
    return runForwardOf<Form::Plain, Form::Masked>(p, bf16, on);
  typename Launcher::Status status = on.template run<SpreadBias>(p);
  if (status != typename Launcher::Status())
    return status;
  return runForwardOf<Form::Biased, Form::MaskedBiased>(p, bf16, on);
}

template <typename Launcher>
typename Launcher::Status runBiasedSides(const AttentionParams &p, bool bf16,
                                         const Launcher &on) {
  typename Launcher::Status status = on.template run<SpreadBias>(p);
  if (status == typename Launcher::Status())
    status = runSides<Form::Biased, Form::MaskedBiased>(p, bf16, on);
  if (status == typename Launcher::Status())
    status = on.template run<GatherBias>(p);
  return status;
}

/// Runs backward; delta is computed first.
template <typename Launcher>
typename Launcher::Status runBackward(const AttentionParams &p, bool bf16,
                                      const Launcher &on) {
  typename Launcher::Status status = bf16 ? on.template run<RowDot<uint16_t>>(p)
                                          : on.template run<RowDot<float>>(p);
  if (status != typename Launcher::Status())
    return status;
  if (p.slice)
    return runSides<Form::Slice, Form::MaskedSlice>(p, bf16, on);
  return p.bias.buckets == 0 ? runSides<Form::Plain, Form::Masked>(p, bf16, on)
                             : runBiasedSides(p, bf16, on);
}

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_ATTENTION_KERNELTABLE_H
