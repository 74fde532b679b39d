//===- RoutedProblem.cpp - Decodes the arguments of routed ----------------===//

#include "runtime/cpu/RoutedProblem.h"
#include "tessera/abi.h"
#include "tessera/tessera.h"

#include <algorithm>
#include <cstring>

using namespace tessera;

static bool isFloat(int64_t dtype) {
  return dtype >= TSR_DTYPE_F32 && dtype <= TSR_DTYPE_F64;
}

static bool isMessageKind(int64_t kind) {
  return kind == TSR_ROUTED_PACK || kind == TSR_ROUTED_UNPACK;
}

// top_k makes gates, rounds are of them alone; dispatch and collect have one
// operand beside them.
int tessera::operandsOfRouted(const int64_t *args) {
  const int64_t kind = args[TSR_ROUTED_KIND];
  if (args[TSR_ROUTED_INT8])
    return 4;
  if (kind == TSR_ROUTED_TOP_K || kind == TSR_ROUTED_ROUNDS)
    return 1;
  return kind == TSR_ROUTED_DISPATCH || kind == TSR_ROUTED_COLLECT ||
                 kind == TSR_ROUTED_EXPAND || isMessageKind(kind)
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

bool RoutedProblem::movesMessages() const { return isMessageKind(kind); }

int64_t RoutedProblem::parts() const {
  return kind == TSR_ROUTED_ROUNDS || (movesMessages() && !own)
             ? std::max<int64_t>(members, 1)
             : 1;
}

int64_t RoutedProblem::mostOfMember() const {
  return tokens * std::min(k, experts / members);
}

std::vector<int64_t> tessera::firstRowsOf(const RoutedProblem &p, int64_t part,
                                          int64_t parts) {
  std::vector<int64_t> first(static_cast<size_t>(p.experts) + 1);
  const int64_t tokens = p.tokens / parts;
  for (int64_t t = part * tokens; t < (part + 1) * tokens; ++t)
    for (int64_t x = 0; x < p.experts; ++x)
      first[static_cast<size_t>(x) + 1] += p.routes(t, x);
  for (size_t x = 0; x + 1 < first.size(); ++x)
    first[x + 1] += first[x];
  return first;
}

int64_t tessera::roundsOf(const RoutedProblem &p) {
  int64_t most = 0;
  for (int64_t part = 0; part < p.parts(); ++part)
    most = std::max(most, firstRowsOf(p, part, p.parts()).back());
  return (most + p.rows - 1) / p.rows;
}

static int32_t refuse(int64_t rows, const char *where, int64_t most,
                      std::string *error) {
  *error = "routed: gates route " + std::to_string(rows) + " rows " + where +
           " " + std::to_string(most);
  return TSR_INTERNAL;
}

/// A part of the experts has its rows side by side.
static int32_t findOwnRuns(const RoutedProblem &p, std::vector<MessageRun> *out,
                           std::string *error) {
  const std::vector<int64_t> first = firstRowsOf(p);
  const int64_t experts = p.experts / p.members;
  for (int64_t i = 0; i < p.members; ++i) {
    const int64_t begin = first[static_cast<size_t>(i * experts)];
    const int64_t rows = first[static_cast<size_t>((i + 1) * experts)] - begin;
    if (rows > p.mostOfMember())
      return refuse(rows, "to a member, but its experts have at most",
                    p.mostOfMember(), error);
    const int64_t count = std::clamp<int64_t>(rows - p.sent, 0, p.message);
    out->push_back({i * p.message, begin + p.sent, count});
  }
  return 0;
}

/// A part of the tokens has some rows of each expert.
static int32_t findPartRuns(const RoutedProblem &p,
                            std::vector<MessageRun> *out, std::string *error) {
  std::vector<std::vector<int64_t>> first;
  for (int64_t i = 0; i < p.members; ++i)
    first.push_back(firstRowsOf(p, i, p.members));
  int64_t row = 0;
  for (size_t x = 0; x < static_cast<size_t>(p.experts); ++x)
    for (int64_t i = 0; i < p.members; ++i) {
      const std::vector<int64_t> &of = first[static_cast<size_t>(i)];
      if (of.back() > p.message)
        return refuse(of.back(), "of a member's tokens, but its message has",
                      p.message, error);
      out->push_back({i * p.message + of[x], row, of[x + 1] - of[x]});
      row += out->back().count;
    }
  return 0;
}

int32_t tessera::findRuns(const RoutedProblem &p, std::vector<MessageRun> *out,
                          std::string *error) {
  return p.own ? findOwnRuns(p, out, error) : findPartRuns(p, out, error);
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

int64_t RoutedProblem::resultRowBytes() const {
  const int64_t element = dtypeOut == TSR_DTYPE_F64    ? 8
                          : dtypeOut == TSR_DTYPE_BF16 ? 2
                                                       : 4;
  return columns * element;
}

void tessera::clearRest(const RoutedProblem &p, int64_t used) {
  const int64_t row = p.resultRowBytes();
  if (used < p.rows)
    std::memset(static_cast<char *>(p.result) + used * row, 0,
                static_cast<size_t>((p.rows - used) * row));
}

/// Checks that tokens, or the experts of messages, split into the given parts.
static int32_t checkMembers(const int64_t *args, std::string *error) {
  const int64_t kind = args[TSR_ROUTED_KIND];
  const int64_t members = args[TSR_ROUTED_MEMBERS];
  const bool moves = isMessageKind(kind), own = args[TSR_ROUTED_OWN] != 0;
  const int64_t whole =
      args[moves && own ? TSR_ROUTED_EXPERTS : TSR_ROUTED_TOKENS];
  if ((moves && members == 0) || (members > 0 && whole % members != 0)) {
    *error = "routed: " + std::to_string(whole) + " cannot be cut into " +
             std::to_string(members) + " parts";
    return TSR_INVALID_ARGUMENT;
  }
  if (!moves)
    return 0;
  if (args[TSR_ROUTED_DTYPE_IN] != args[TSR_ROUTED_DTYPE_OUT] ||
      args[TSR_ROUTED_ROWS] == 0) {
    *error =
        "routed: messages have the dtype of compact rows; those here are " +
        std::to_string(args[TSR_ROUTED_DTYPE_IN]) + " and " +
        std::to_string(args[TSR_ROUTED_DTYPE_OUT]) + ", " +
        std::to_string(args[TSR_ROUTED_ROWS]) + " rows";
    return TSR_INVALID_ARGUMENT;
  }
  if (args[own ? TSR_ROUTED_ROUND : TSR_ROUTED_SENT] == 0)
    return 0;
  *error = own ? "routed: messages of own rows have no rounds, but rows that "
                 "were sent before"
               : "routed: messages of a rank's experts have rounds, not rows "
                 "that were sent before";
  return TSR_INVALID_ARGUMENT;
}

static int32_t checkRoutedTypes(const int64_t *args, std::string *error) {
  const int64_t kind = args[TSR_ROUTED_KIND];
  const int64_t in = args[TSR_ROUTED_DTYPE_IN];
  const int64_t result = args[TSR_ROUTED_DTYPE_OUT];
  if (kind < TSR_ROUTED_TOP_K || kind > TSR_ROUTED_UNPACK) {
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
  if (args[TSR_ROUTED_INT8] && kind != TSR_ROUTED_PRODUCT) {
    *error = "routed: kind " + std::to_string(kind) +
             " has no integers; only products (4) have";
    return TSR_INVALID_ARGUMENT;
  }
  return 0;
}

static int32_t checkRoutedSizes(const int64_t *args, std::string *error) {
  const int64_t kind = args[TSR_ROUTED_KIND];
  for (int size :
       {TSR_ROUTED_TOKENS, TSR_ROUTED_EXPERTS, TSR_ROUTED_COLUMNS,
        TSR_ROUTED_INNER, TSR_ROUTED_K, TSR_ROUTED_ROWS, TSR_ROUTED_ROUND,
        TSR_ROUTED_MEMBERS, TSR_ROUTED_MESSAGE, TSR_ROUTED_SENT})
    if (args[size] < 0) {
      *error = "routed: negative size " + std::to_string(args[size]);
      return TSR_INVALID_ARGUMENT;
    }
  if (kind == TSR_ROUTED_TOP_K &&
      args[TSR_ROUTED_K] > args[TSR_ROUTED_EXPERTS]) {
    *error = "routed: " + std::to_string(args[TSR_ROUTED_K]) + " of " +
             std::to_string(args[TSR_ROUTED_EXPERTS]) + " experts";
    return TSR_INVALID_ARGUMENT;
  }
  const bool inRounds = kind == TSR_ROUTED_ROUNDS || args[TSR_ROUTED_ROUND] > 0;
  if (inRounds && args[TSR_ROUTED_ROWS] == 0) {
    *error = "routed: rounds of 0 rows";
    return TSR_INVALID_ARGUMENT;
  }
  return 0;
}

int32_t tessera::decodeRouted(const int64_t *args, void *const *buffers,
                              RoutedProblem *out, std::string *error) {
  for (auto *check : {checkRoutedTypes, checkRoutedSizes, checkMembers})
    if (int32_t status = check(args, error))
      return status;
  const int64_t kind = args[TSR_ROUTED_KIND];
  const int operands = operandsOfRouted(args);
  *out = {kind,
          args[TSR_ROUTED_TOKENS],
          args[TSR_ROUTED_EXPERTS],
          args[TSR_ROUTED_COLUMNS],
          args[TSR_ROUTED_INNER],
          args[TSR_ROUTED_K],
          args[TSR_ROUTED_WEIGHTED] != 0,
          args[TSR_ROUTED_TRANSPOSED] != 0,
          args[TSR_ROUTED_DTYPE_IN],
          args[TSR_ROUTED_DTYPE_OUT],
          buffers[0],
          operands >= 3 ? buffers[1] : nullptr,
          kind == TSR_ROUTED_TOP_K ? nullptr : buffers[operands - 1],
          buffers[operands],
          args[TSR_ROUTED_ROWS],
          args[TSR_ROUTED_ROUND],
          args[TSR_ROUTED_MEMBERS],
          args[TSR_ROUTED_MESSAGE],
          args[TSR_ROUTED_SENT],
          args[TSR_ROUTED_OWN] != 0,
          args[TSR_ROUTED_INT8] ? buffers[2] : nullptr};
  return 0;
}
