//===- ScatterProblem.h - The arguments of scatter_add, decoded -*- C++ -*-===//
#ifndef TESSERA_CPU_SCATTERPROBLEM_H
#define TESSERA_CPU_SCATTERPROBLEM_H

#include <cstdint>
#include <string>

namespace tessera {

/// As in TSR_SCATTER_*.
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

} // namespace tessera

#endif // TESSERA_CPU_SCATTERPROBLEM_H
