//===- BlockedGemm.cpp - Cuts a product into regions for threads ----------===//

#include "CpuKernels.h"
#include "GemmProblem.h"
#include "Workspace.h"
#include "tessera/tessera.h"

#include <algorithm>
#include <omp.h>

using namespace tessera;

namespace {
/// A grid of regions over C: `down` x `across`.
struct Grid {
  int64_t down, across;
};
} // namespace

/// Region borders fall on multiples of this, so that tiles stay whole.
static constexpr int64_t kRowStep = 12, kColumnStep = 64;

static int64_t border(int64_t size, int64_t step, int64_t part, int64_t parts) {
  const int64_t steps = (size + step - 1) / step;
  return std::min(size, steps * part / parts * step);
}

/// The grid that packs least: each row of regions packs B, each column A.
static Grid chooseGrid(const GemmProblem &p, int threads) {
  Grid best{1, threads};
  for (int64_t down = 1; down <= threads; ++down) {
    if (threads % down != 0)
      continue;
    const int64_t across = threads / down;
    const auto cost = [&](Grid g) {
      const int64_t rows = (p.m + g.down - 1) / g.down;
      const int64_t columns = (p.n + g.across - 1) / g.across;
      const int64_t idle = rows < kRowStep || columns < kColumnStep;
      return (idle << 60) + rows + columns;
    };
    if (cost({down, across}) < cost(best))
      best = {down, across};
  }
  return best;
}

static GemmRegion regionOf(const GemmProblem &p, Grid grid, int64_t part) {
  const int64_t i = part / grid.across, j = part % grid.across;
  return {border(p.m, kRowStep, i, grid.down),
          border(p.m, kRowStep, i + 1, grid.down),
          border(p.n, kColumnStep, j, grid.across),
          border(p.n, kColumnStep, j + 1, grid.across)};
}

/// The problem of one matrix of the batch.
static GemmProblem matrixOf(const GemmProblem &p, int64_t i) {
  static constexpr int64_t bytes[] = {4, 2, 8};
  const auto move = [&](const void *base, int64_t dtype, int64_t stride) {
    return static_cast<const char *>(base) + i * stride * bytes[dtype];
  };
  GemmProblem one = p;
  one.a = move(p.a, p.dtypeAB, p.strideA);
  one.b = move(p.b, p.dtypeAB, p.strideB);
  one.c = const_cast<char *>(move(p.c, p.dtypeC, p.strideC));
  return one;
}

int32_t tessera::blockedGemm(int threads, const GemmProblem &p,
                             std::string *error) {
  const CpuKernels &kernels = cpuKernels();
  // Tiny products are not worth waking a team.
  if (double(p.m) * double(p.n) * double(p.k) * double(p.batch) < 3e4)
    threads = 1;
  const Grid grid = chooseGrid(p, std::max(threads, 1));
  const int64_t parts = grid.down * grid.across;
  size_t bytes = 0;
  for (int64_t part = 0; part < parts; ++part)
    bytes = std::max(bytes, kernels.gemmScratch(p, regionOf(p, grid, part)));
  thread_local Workspace workspace;
  auto *scratch =
      static_cast<unsigned char *>(workspace.reserve(bytes * size_t(parts)));
  if (!scratch) {
    *error = "gemm: no memory for " + std::to_string(parts) +
             " workspaces of " + std::to_string(bytes) + " bytes";
    return TSR_OUT_OF_MEMORY;
  }
  // A thread walks over all matrices of the batch with its own region: the same
  // element always by the same thread, in order, even where strides are zero.
#pragma omp parallel for num_threads(static_cast <int>(parts))                 \
    schedule(static, 1)
  for (int64_t part = 0; part < parts; ++part) {
    const GemmRegion region = regionOf(p, grid, part);
    if (region.rowBegin < region.rowEnd &&
        region.columnBegin < region.columnEnd)
      for (int64_t i = 0; i < p.batch; ++i)
        kernels.gemm(matrixOf(p, i), region, scratch + size_t(part) * bytes);
  }
  return 0;
}
