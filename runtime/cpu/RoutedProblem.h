//===- RoutedProblem.h - The arguments of routed, decoded -------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_CPU_ROUTEDPROBLEM_H
#define TESSERA_RUNTIME_CPU_ROUTEDPROBLEM_H

#include <cstdint>
#include <string>

namespace tessera {

/// As in TSR_ROUTED_*. Operands in order; gates are not among them.
struct RoutedProblem {
  int64_t kind, tokens, experts, columns, inner, k;
  bool weighted, transposed;
  int64_t dtypeIn, dtypeOut;
  const void *first, *second; ///< second: may be null
  const void *gates;          ///< f64 with f64 data, else f32
  void *result;
};

/// The buffers of a kind, gates among them, before its result; at most 3.
int operandsOfRouted(int64_t kind);

/// Decodes and checks args; returns 0 or a tsr_status with *error set.
int32_t decodeRouted(const int64_t *args, void *const *buffers,
                     RoutedProblem *out, std::string *error);

/// The products of TSR_ROUTED_PRODUCT and TSR_ROUTED_PRODUCT_GRAD_WEIGHT, an
/// expert after the other: its rows are gathered, multiplied and scattered.
int32_t routedProduct(int threads, const RoutedProblem &problem,
                      std::string *error);

} // namespace tessera

#endif // TESSERA_RUNTIME_CPU_ROUTEDPROBLEM_H
