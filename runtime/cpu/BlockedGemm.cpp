//===- BlockedGemm.cpp - Our own products, on a rank's threads ------------===//

#include "runtime/cpu/CpuKernels.h"
#include "runtime/cpu/GemmRegions.h"
#include "runtime/cpu/Workspace.h"
#include "runtime/support/ThreadTeam.h"
#include "tessera/tessera.h"

#include <algorithm>

using namespace tessera;

int32_t tessera::blockedGemm(int threads, const GemmProblem &p,
                             std::string *error) {
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
