//===- RoutedParams.h - What a kernel of experts gets -----------*- C++ -*-===//
// A RoutedProblem (TSR_ROUTED_*) with its row lists, reduced to what kernels
// compute with. One struct for all kernels; it travels as a kernel parameter.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_EXPERTS_ROUTEDPARAMS_H
#define TESSERA_RUNTIME_CUDA_EXPERTS_ROUTEDPARAMS_H

#include "runtime/cuda/HostDevice.h"

#include <cstdint>

namespace tessera::cuda {

struct RoutedParams {
  const void *first, *second; /* operands beside the gates, in order */
  const float *gates;         /* [tokens, experts]; null of top_k */
  void *result;
  /// Of expert x: how many tokens it has, and which, in order, from
  /// lists[x * tokens] on. Written before products, which alone read them.
  int *counts, *lists;
  int tokens, experts, columns, inner, k;
  bool weighted;
  /// Rows of 8 elements' multiples that start at 16 bytes: moved by vectors.
  bool firstAligned, secondAligned, resultAligned;

  TSR_DEVICE float gate(int token, int expert) const {
    return gates[int64_t(token) * experts + expert];
  }
  /// Row of an expert and a token in a [experts, tokens, width] tensor.
  template <typename T>
  TSR_DEVICE T *row(T *rows, int expert, int token, int width) const {
    return rows + (int64_t(expert) * tokens + token) * width;
  }
};

/// Rows [experts, tokens, ..] of a result whose gates are zero become zero.
struct UnroutedRows {
  const float *gates; /* [tokens, experts] */
  int tokens, experts;
  void *rows;
  int64_t rowHalves; /* 2-byte elements of a row */
  bool aligned;      /* every row is whole pieces of 16 bytes, at such */
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_EXPERTS_ROUTEDPARAMS_H
