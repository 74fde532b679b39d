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
  /// [experts, columns]: what sums are multiplied by if `second` is integers of
  /// i8; else null.
  const float *scales;
  /// Expert x has counts[x] tokens, whose numbers are listed in order from
  /// lists[x * tokens] on. Written before products, which alone read them.
  /// Compact rows have no lists.
  int *counts, *lists;
  /// If rows are compact, else null: the first row of expert x, with that
  /// behind the last expert's, and the row of expert x and a token that it has,
  /// at places[x * tokens + token]. Products have no places.
  int *starts, *places;
  int tokens, experts, columns, inner, k;
  int rows;       /* compact ones that there is room for, or of a round */
  int parts;      /* parts of the tokens, which are counted apart */
  int round;      /* not 0: gates are numbers of rounds, this one is routed */
  bool continues; /* the result holds what earlier rounds made */
  bool weighted;
  int *taken; /* for ROUNDS, may be null: the most that a layer took so far */
  /// Rows of 8 elements' multiples that start at 16 bytes: moved by vectors.
  bool firstAligned, secondAligned, resultAligned;

  TSR_DEVICE float gate(int token, int expert) const {
    return gates[int64_t(token) * experts + expert];
  }
  TSR_DEVICE bool routes(int token, int expert) const {
    const float number = gate(token, expert);
    return round == 0 ? number != 0 : number == float(round);
  }
  /// Returns the row of an expert and a token, which is routed if rows are
  /// compact.
  template <typename T>
  TSR_DEVICE T *row(T *rows, int expert, int token, int width) const {
    const int64_t at = int64_t(expert) * tokens + token;
    return rows + (places ? int64_t(places[at]) : at) * width;
  }
  /// Returns where an expert's rows begin.
  TSR_DEVICE int64_t firstRow(int expert) const {
    return starts ? int64_t(starts[expert]) : int64_t(expert) * tokens;
  }
  /// Returns the list of an expert's tokens; null: its rows are one after the
  /// other.
  TSR_DEVICE const int *listOf(int expert) const {
    return lists ? lists + int64_t(expert) * tokens : nullptr;
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

/// Compact rows of a result that no expert has become zero.
struct RestRows {
  const int *routed; /* rows that are some expert's: those before the rest */
  int count;
  void *rows;
  int64_t rowHalves; /* this and the next: see UnroutedRows */
  bool aligned;
};

/// Compact rows and the messages that they are put into, or taken from. Member
/// i's message has `segments` pieces that lie one after the other among compact
/// rows, too: piece s begins at its row at[i, s], the last ends at at[i,
/// segments], and at compact row row[i, s].
struct MessageParams {
  const int *counts; /* rows of an expert in a part of the tokens */
  int *routed;       /* compact rows, all */
  int *at, *row;
  int experts, parts, members, segments;
  int message, rows; /* room: of a message, of compact ones */
  bool own;          /* members have parts of the experts, else of the tokens */
  int sent, most;    /* own rows for a member: before these, and in all */
  bool packs;
  const void *from;
  void *to;
  int64_t rowHalves; /* this and the next on both sides: see UnroutedRows */
  bool aligned;
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_EXPERTS_ROUTEDPARAMS_H
