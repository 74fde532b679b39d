//===- ScatterProblem.h - The arguments of scatter_add, decoded -*- C++ -*-===//
#ifndef TESSERA_RUNTIME_CPU_SCATTERPROBLEM_H
#define TESSERA_RUNTIME_CPU_SCATTERPROBLEM_H

#include "runtime/support/ThreadTeam.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace tessera {

/// The arguments TSR_SCATTER_* and the buffers of a call.
struct ScatterProblem {
  int64_t rows, columns, start, valid;
  int64_t dtypeSource, dtypeTable;
  const void *source;
  const int32_t *ids;
  void *table;
};

/// Decodes and checks args; returns 0 or a tsr_status with *error set.
int32_t decodeScatter(const int64_t *args, void *const *buffers,
                      ScatterProblem *out, std::string *error);

/// body(begin, end) for ranges of columns that threads share. Borders are
/// multiples of a cache line, so that no line has two writers.
template <class Body>
void overColumns(int threads, int64_t columns, const Body &body) {
  constexpr int64_t kStep = 16;
  const int64_t steps = (columns + kStep - 1) / kStep;
  const int64_t parts = std::max<int64_t>(1, std::min<int64_t>(threads, steps));
  inParallel(static_cast<int>(parts), [&](int64_t part) {
    body(steps * part / parts * kStep,
         std::min(columns, steps * (part + 1) / parts * kStep));
  });
}

} // namespace tessera

#endif // TESSERA_RUNTIME_CPU_SCATTERPROBLEM_H
