//===- RoutedProblem.cpp - Decodes the arguments of routed ----------------===//

#include "runtime/cpu/RoutedProblem.h"
#include "tessera/abi.h"
#include "tessera/tessera.h"

#include <cstring>

using namespace tessera;

static bool isFloat(int64_t dtype) {
  return dtype >= TSR_DTYPE_F32 && dtype <= TSR_DTYPE_F64;
}

// top_k makes gates, rounds are of them alone; dispatch and collect have one
// operand beside them.
int tessera::operandsOfRouted(int64_t kind) {
  if (kind == TSR_ROUTED_TOP_K || kind == TSR_ROUTED_ROUNDS)
    return 1;
  return kind == TSR_ROUTED_DISPATCH || kind == TSR_ROUTED_COLLECT ||
                 kind == TSR_ROUTED_EXPAND
             ? 2
             : 3;
}

bool RoutedProblem::routes(int64_t token, int64_t expert) const {
  const int64_t at = token * experts + expert;
  const double gate = dtypeIn == TSR_DTYPE_F64
                          ? static_cast<const double *>(gates)[at]
                          : double(static_cast<const float *>(gates)[at]);
  return round == 0 ? gate != 0 : gate == double(round);
}

std::vector<int64_t> tessera::firstRowsOf(const RoutedProblem &p) {
  std::vector<int64_t> first(static_cast<size_t>(p.experts) + 1);
  for (int64_t t = 0; t < p.tokens; ++t)
    for (int64_t x = 0; x < p.experts; ++x)
      first[static_cast<size_t>(x) + 1] += p.routes(t, x);
  for (size_t x = 0; x + 1 < first.size(); ++x)
    first[x + 1] += first[x];
  return first;
}

int64_t tessera::roundsOf(const RoutedProblem &p) {
  return (firstRowsOf(p).back() + p.rows - 1) / p.rows;
}

int32_t tessera::checkRoom(const RoutedProblem &p, std::string *error) {
  if (p.rows == 0 || p.kind == TSR_ROUTED_TOP_K || p.kind == TSR_ROUTED_ROUNDS)
    return 0;
  const int64_t routed = firstRowsOf(p).back();
  if (routed <= p.rows)
    return 0;
  *error = "routed: gates route " + std::to_string(routed) + " rows of " +
           std::to_string(p.tokens) + " tokens, but the buffer has " +
           std::to_string(p.rows);
  return TSR_INTERNAL;
}

void tessera::clearRest(const RoutedProblem &p, int64_t used) {
  const int64_t element = p.dtypeOut == TSR_DTYPE_F64    ? 8
                          : p.dtypeOut == TSR_DTYPE_BF16 ? 2
                                                         : 4;
  const int64_t row = p.columns * element;
  if (used < p.rows)
    std::memset(static_cast<char *>(p.result) + used * row, 0,
                static_cast<size_t>((p.rows - used) * row));
}

int32_t tessera::decodeRouted(const int64_t *args, void *const *buffers,
                              RoutedProblem *out, std::string *error) {
  const int64_t kind = args[TSR_ROUTED_KIND];
  const int64_t in = args[TSR_ROUTED_DTYPE_IN];
  const int64_t result = args[TSR_ROUTED_DTYPE_OUT];
  if (kind < TSR_ROUTED_TOP_K || kind > TSR_ROUTED_ROUNDS) {
    *error = "routed: unknown kind " + std::to_string(kind);
    return TSR_INVALID_ARGUMENT;
  }
  // f64 goes with f64 only.
  if (!isFloat(in) || !isFloat(result) ||
      (in == TSR_DTYPE_F64) != (result == TSR_DTYPE_F64)) {
    *error =
        "routed: dtypes " + std::to_string(in) + " -> " +
        std::to_string(result) +
        " are not supported; both are f32 (0) or bf16 (1), or both f64 (2)";
    return TSR_UNSUPPORTED;
  }
  for (int size :
       {TSR_ROUTED_TOKENS, TSR_ROUTED_EXPERTS, TSR_ROUTED_COLUMNS,
        TSR_ROUTED_INNER, TSR_ROUTED_K, TSR_ROUTED_ROWS, TSR_ROUTED_ROUND})
    if (args[size] < 0) {
      *error = "routed: negative size " + std::to_string(args[size]);
      return TSR_INVALID_ARGUMENT;
    }
  const bool isTopK = kind == TSR_ROUTED_TOP_K;
  if (isTopK && args[TSR_ROUTED_K] > args[TSR_ROUTED_EXPERTS]) {
    *error = "routed: " + std::to_string(args[TSR_ROUTED_K]) + " of " +
             std::to_string(args[TSR_ROUTED_EXPERTS]) + " experts";
    return TSR_INVALID_ARGUMENT;
  }
  const bool inRounds = kind == TSR_ROUTED_ROUNDS || args[TSR_ROUTED_ROUND] > 0;
  if (inRounds && args[TSR_ROUTED_ROWS] == 0) {
    *error = "routed: rounds of 0 rows";
    return TSR_INVALID_ARGUMENT;
  }
  const int operands = operandsOfRouted(kind);
  *out = {kind,
          args[TSR_ROUTED_TOKENS],
          args[TSR_ROUTED_EXPERTS],
          args[TSR_ROUTED_COLUMNS],
          args[TSR_ROUTED_INNER],
          args[TSR_ROUTED_K],
          args[TSR_ROUTED_WEIGHTED] != 0,
          args[TSR_ROUTED_TRANSPOSED] != 0,
          in,
          result,
          buffers[0],
          operands == 3 ? buffers[1] : nullptr,
          isTopK ? nullptr : buffers[operands - 1],
          buffers[operands],
          args[TSR_ROUTED_ROWS],
          args[TSR_ROUTED_ROUND]};
  return 0;
}
