//===- FewRowsGemm.cpp - Products of few rows, on a rank's threads --------===//

#include "runtime/cpu/CpuKernels.h"
#include "runtime/support/ThreadTeam.h"
#include "tessera/abi.h"

#include <algorithm>

using namespace tessera;

bool tessera::hasFewRows(const GemmProblem &p) {
  return p.m <= kFewRows && p.batch == 1 && !p.transA && p.chunks == 0 &&
         p.dtypeAB != TSR_DTYPE_F64 && p.n >= 64;
}

/// Where a thread's columns begin.
static int64_t columnOf(const GemmProblem &p, int64_t part, int64_t parts) {
  constexpr int64_t step = 64;
  return std::min(p.n, (p.n + step - 1) / step * part / parts * step);
}

void tessera::fewRowsGemm(int threads, const GemmProblem &p) {
  // Fewer bytes of B than this are not worth another thread.
  constexpr int64_t least = 1 << 16;
  const int64_t bytes = p.int8B ? 1 : p.dtypeAB == TSR_DTYPE_BF16 ? 2 : 4;
  const auto parts = static_cast<int>(
      std::clamp<int64_t>(p.n * p.k * bytes / least, 1, std::max(threads, 1)));
  const CpuKernels &kernels = cpuKernels();
  inParallel(parts, [&](int part) {
    const int64_t begin = columnOf(p, part, parts);
    const int64_t end = columnOf(p, part + 1, parts);
    if (begin < end)
      kernels.fewRows(p, begin, end);
  });
}
