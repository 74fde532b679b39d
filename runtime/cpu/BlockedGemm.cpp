//===- BlockedGemm.cpp - Our own products, on a rank's threads ------------===//

#include "runtime/cpu/CpuKernels.h"
#include "runtime/cpu/GemmRegions.h"
#include "runtime/cpu/Workspace.h"
#include "runtime/support/ThreadTeam.h"
#include "tessera/tessera.h"

#include <algorithm>
#include <vector>

using namespace tessera;

/// Returns the product of matrices [begin, end) of the batch.
static GemmProblem someOf(const GemmProblem &p, int64_t begin, int64_t end) {
  GemmProblem some = matrixOf(p, begin);
  some.batch = end - begin;
  return some;
}

/// Returns whether each thread computes whole matrices of the batch, which is
/// better than a region of all where they are small.
static bool sharesBatch(int threads, const GemmProblem &p) {
  constexpr double least = 1 << 16;
  return threads > 1 && p.batch >= threads && p.strideC != 0 &&
         double(p.m) * double(p.n) * double(p.k) * double(p.batch) >= least;
}

static int32_t shareBatch(int threads, const GemmProblem &p,
                          std::string *error) {
  std::vector<int32_t> statuses(threads, 0);
  std::vector<std::string> errors(threads);
  inParallel(threads, [&](int part) {
    statuses[part] = blockedGemm(
        1, someOf(p, p.batch * part / threads, p.batch * (part + 1) / threads),
        &errors[part]);
  });
  for (int part = 0; part < threads; ++part)
    if (statuses[part] != 0) {
      *error = errors[part];
      return statuses[part];
    }
  return 0;
}

int32_t tessera::blockedGemm(int threads, const GemmProblem &p,
                             std::string *error) {
  if (sharesBatch(threads, p))
    return shareBatch(threads, p, error);
  const CpuKernels &kernels = cpuKernels();
  const GemmRegions regions(p, threads);
  size_t bytes = 0;
  for (int part = 0; part < regions.count(); ++part)
    bytes = std::max(bytes, kernels.gemmScratch(p, regions.at(part)));
  thread_local Workspace workspace;
  auto *scratch = static_cast<unsigned char *>(
      workspace.reserve(bytes * size_t(regions.count())));
  if (!scratch) {
    *error = "gemm: no memory for " + std::to_string(regions.count()) +
             " workspaces of " + std::to_string(bytes) + " bytes";
    return TSR_OUT_OF_MEMORY;
  }
  // A thread walks over all matrices of the batch with its own region: the same
  // element always by the same thread, in order, even where strides are zero.
  inParallel(regions.count(), [&](int part) {
    const GemmRegion region = regions.at(part);
    if (region.isEmpty())
      return;
    for (int64_t i = 0; i < p.batch; ++i)
      kernels.gemm(matrixOf(p, i), region, scratch + size_t(part) * bytes);
  });
  return 0;
}
