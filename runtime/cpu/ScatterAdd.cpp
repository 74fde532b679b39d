//===- ScatterAdd.cpp - The entry `scatter_add` ---------------------------===//
// The gradient of an embedding lookup. Threads share columns, never rows: each
// element is summed by one thread in order of rows, so no atomics are needed
// and the bits do not depend on the number of threads.

#include "runtime/cpu/Bf16.h"
#include "runtime/cpu/CpuEntries.h"
#include "runtime/cpu/ScatterProblem.h"
#include "tessera/tessera.h"

#include <algorithm>
#include <exception>

using namespace tessera;

template <typename Source, typename Table>
static void addColumns(const ScatterProblem &s, int64_t begin, int64_t end) {
  for (int64_t r = 0; r < s.rows; ++r) {
    const int64_t row = int64_t(s.ids[r]) - s.start;
    if (row < 0 || row >= s.valid)
      continue;
    const Source *from = static_cast<const Source *>(s.source) + r * s.columns;
    Table *to = static_cast<Table *>(s.table) + row * s.columns;
    for (int64_t c = begin; c < end; ++c)
      to[c] += Table(wide(from[c]));
  }
}

template <typename Source>
static void addColumns(const ScatterProblem &s, int64_t dtype, int64_t begin,
                       int64_t end) {
  if (dtype == TSR_DTYPE_F64)
    addColumns<Source, double>(s, begin, end);
  else
    addColumns<Source, float>(s, begin, end);
}

int32_t tessera::cpuScatterAdd(int threads, void *const *buffers,
                               const int64_t *args, std::string *error) try {
  ScatterProblem s;
  if (int32_t status = decodeScatter(args, buffers, &s, error))
    return status;
  overColumns(threads, s.columns, [&](int64_t begin, int64_t end) {
    if (s.dtypeSource == TSR_DTYPE_F64)
      addColumns<double>(s, s.dtypeTable, begin, end);
    else if (s.dtypeSource == TSR_DTYPE_BF16)
      addColumns<Bf16>(s, s.dtypeTable, begin, end);
    else
      addColumns<float>(s, s.dtypeTable, begin, end);
  });
  return 0;
} catch (const std::exception &failure) {
  *error = std::string("scatter_add: ") + failure.what();
  return TSR_INTERNAL;
}
