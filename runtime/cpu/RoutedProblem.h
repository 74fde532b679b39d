//===- RoutedProblem.h - The arguments of routed, decoded -------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_CPU_ROUTEDPROBLEM_H
#define TESSERA_RUNTIME_CPU_ROUTEDPROBLEM_H

#include <cstdint>
#include <string>
#include <vector>

namespace tessera {

/// The fields are the arguments TSR_ROUTED_*. Operands are in order; gates are
/// not among them.
struct RoutedProblem {
  int64_t kind, tokens, experts, columns, inner, k;
  bool weighted, transposed;
  int64_t dtypeIn, dtypeOut;
  const void *first, *second; ///< second: may be null
  const void *gates;          ///< f64 with f64 data, else f32
  void *result;
  int64_t rows = 0;  ///< compact ones; 0: rows are [experts, tokens, ..]
  int64_t round = 0; ///< not 0: gates are numbers of rounds
  int64_t members = 0, message = 0, sent = 0; ///< the arguments TSR_ROUTED_*
  bool own = false; ///< rows are of the rank's own tokens
  /// The scales of a product whose second operand is integers; else null.
  const void *scales = nullptr;

  bool movesMessages() const;
  int64_t resultRowBytes() const; ///< bytes of a row, if the result has rows
  /// Equal parts of the tokens that are numbered, or counted, apart.
  int64_t parts() const;
  /// Rows that a member's part of the experts has at most, of own tokens.
  int64_t mostOfMember() const;
  /// Returns whether an earlier round left something in the result.
  bool continues() const { return round > 1; }
  bool routes(int64_t token, int64_t expert) const;
};

/// Returns the number of the first compact row of each expert, and of all rows;
/// those of one of equal parts of the tokens.
std::vector<int64_t> firstRowsOf(const RoutedProblem &problem, int64_t part = 0,
                                 int64_t parts = 1);

/// Returns how many rounds of `rows` rows the routed ones take, of
/// TSR_ROUTED_ROUNDS.
int64_t roundsOf(const RoutedProblem &problem);

/// Rows of a message that lie one after the other among compact ones, too.
struct MessageRun {
  int64_t at, row, count; ///< `at`: row of all messages
};
/// Finds the rows that PACK and UNPACK move. Returns 0, or a tsr_status with
/// *error set if they do not fit.
int32_t findRuns(const RoutedProblem &problem, std::vector<MessageRun> *out,
                 std::string *error);

/// Returns 0, or a status with *error set if gates route more rows than there
/// are.
int32_t checkRoom(const RoutedProblem &problem, std::string *error);

/// Sets the rows of a compact result to zero that no expert has.
void clearRest(const RoutedProblem &problem, int64_t used);

/// Returns the buffers of a call, gates among them, before its result; at most
/// 4.
int operandsOfRouted(const int64_t *args);

/// Decodes and checks args; returns 0 or a tsr_status with *error set.
int32_t decodeRouted(const int64_t *args, void *const *buffers,
                     RoutedProblem *out, std::string *error);

/// Computes the products of TSR_ROUTED_PRODUCT and
/// TSR_ROUTED_PRODUCT_GRAD_WEIGHT, one expert after the other: its rows are
/// gathered, multiplied and scattered.
int32_t routedProduct(int threads, const RoutedProblem &problem,
                      std::string *error);

} // namespace tessera

#endif // TESSERA_RUNTIME_CPU_ROUTEDPROBLEM_H
