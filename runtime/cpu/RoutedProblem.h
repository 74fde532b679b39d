//===- RoutedProblem.h - The arguments of routed, decoded -------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_CPU_ROUTEDPROBLEM_H
#define TESSERA_RUNTIME_CPU_ROUTEDPROBLEM_H

#include <cstdint>
#include <string>
#include <vector>

namespace tessera {

/// As in TSR_ROUTED_*. Operands in order; gates are not among them.
struct RoutedProblem {
  int64_t kind, tokens, experts, columns, inner, k;
  bool weighted, transposed;
  int64_t dtypeIn, dtypeOut;
  const void *first, *second; ///< second: may be null
  const void *gates;          ///< f64 with f64 data, else f32
  void *result;
  int64_t rows = 0;  ///< compact ones; 0: rows are [experts, tokens, ..]
  int64_t round = 0; ///< not 0: gates are numbers of rounds

  /// Whether an earlier round left something in the result.
  bool continues() const { return round > 1; }
  bool routes(int64_t token, int64_t expert) const;
};

/// The number of the first compact row of each expert, and of all rows.
std::vector<int64_t> firstRowsOf(const RoutedProblem &problem);

/// How many rounds of `rows` rows the routed ones take, of TSR_ROUTED_ROUNDS.
int64_t roundsOf(const RoutedProblem &problem);

/// 0, or a status with *error set if gates route more rows than there are.
int32_t checkRoom(const RoutedProblem &problem, std::string *error);

/// Sets the rows of a compact result to zero that no expert has.
void clearRest(const RoutedProblem &problem, int64_t used);

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
