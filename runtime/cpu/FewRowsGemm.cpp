//===- FewRowsGemm.cpp - Products of few rows, on a rank's threads --------===//

#include "runtime/cpu/CpuKernels.h"
#include "runtime/cpu/Workspace.h"
#include "runtime/support/ThreadTeam.h"
#include "tessera/abi.h"
#include "tessera/tessera.h"

#include <algorithm>
#include <numeric>

using namespace tessera;

bool tessera::hasFewRows(const GemmProblem &p) {
  return p.m <= kFewRows && p.batch == 1 && !p.transA && p.chunks == 0 &&
         p.dtypeAB != TSR_DTYPE_F64 && p.n >= kFewRowsStrip;
}

/// Returns the first column of part number `part`.
static int64_t columnOf(const GemmProblem &p, int64_t part, int64_t parts) {
  constexpr int64_t strip = kFewRowsStrip;
  return std::min(p.n, (p.n + strip - 1) / strip * part / parts * strip);
}

/// Returns the threads that the bytes of B are worth.
static int partsOf(int threads, const GemmProblem &p) {
  constexpr int64_t least = 1 << 16;
  const int64_t bytes = p.int8B ? 1 : p.dtypeAB == TSR_DTYPE_BF16 ? 2 : 4;
  return static_cast<int>(
      std::clamp<int64_t>(p.n * p.k * bytes / least, 1, std::max(threads, 1)));
}

/// Returns the number of slices, which depends on the shape alone, because the
/// bits of the result depend on it. Short rows, which are soon read, have more
/// slices; there are as few as keep the sums of a row in 64 KiB.
static int64_t slicesOf(const GemmProblem &p) {
  int64_t slices = 1;
  while (slices < 8 && 2 * slices * p.n <= 16384 && p.k >= 128 * slices)
    slices *= 2;
  return slices;
}

/// Columns of part `part`, which are about as many as those of others.
template <typename Body>
static void forColumns(int parts, const GemmProblem &p, const Body &body) {
  inParallel(parts, [&](int part) {
    const int64_t begin = columnOf(p, part, parts);
    const int64_t end = columnOf(p, part + 1, parts);
    if (begin < end)
      body(begin, end);
  });
}

/// Each part is of slices, or of as many columns of each slice that parts come
/// out even.
static void sumSlices(int parts, const GemmProblem &p, int64_t slices,
                      float *sums) {
  const CpuKernels &kernels = cpuKernels();
  const int64_t across = parts / std::gcd(int64_t(parts), slices);
  const int64_t units = slices * across / parts;
  inParallel(parts, [&](int part) {
    for (int64_t unit = part * units; unit < (part + 1) * units; ++unit) {
      const int64_t slice = unit / across, column = unit % across;
      const FewRowsSlice own = {
          p.k * slice / slices, p.k * (slice + 1) / slices,
          columnOf(p, column, across), columnOf(p, column + 1, across)};
      kernels.fewRowsSlice(p, own, sums + slice * fewRowsSums(p));
    }
  });
}

int32_t tessera::fewRowsGemm(int threads, const GemmProblem &p,
                             std::string *error) {
  const CpuKernels &kernels = cpuKernels();
  const int parts = partsOf(threads, p);
  if (p.transB) {
    forColumns(parts, p, [&](int64_t begin, int64_t end) {
      kernels.fewRows(p, begin, end);
    });
    return 0;
  }
  const int64_t slices = slicesOf(p);
  const size_t bytes = slices * fewRowsSums(p) * sizeof(float);
  thread_local Workspace workspace;
  auto *sums = static_cast<float *>(workspace.reserve(bytes));
  if (!sums) {
    *error = "gemm: no memory for " + std::to_string(bytes) + " bytes";
    return TSR_OUT_OF_MEMORY;
  }
  sumSlices(parts, p, slices, sums);
  // Fewer bytes than this are soon merged.
  constexpr size_t least = 1 << 16;
  const int merging =
      static_cast<int>(std::clamp<size_t>(bytes / least, 1, size_t(parts)));
  forColumns(merging, p, [&](int64_t begin, int64_t end) {
    kernels.fewRowsMerge(p, slices, sums, begin, end);
  });
  return 0;
}
