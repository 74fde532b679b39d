//===- Attention.cpp - The entry `attention` ------------------------------===//

#include "runtime/cpu/AttentionSegments.h"
#include "runtime/cpu/AttentionUnits.h"
#include "runtime/cpu/CpuEntries.h"
#include "runtime/cpu/CpuKernels.h"
#include "runtime/cpu/PositionBias.h"
#include "runtime/cpu/Workspace.h"
#include "tessera/abi.h"
#include "tessera/tessera.h"

#include <exception>

using namespace tessera;

int32_t tessera::cpuAttention(int threads, void *const *buffers,
                              const int64_t *args, std::string *error) try {
  AttentionProblem p;
  if (int32_t status = decodeAttention(args, &p, error))
    return status;
  p.q = buffers[0];
  p.k = buffers[1];
  p.v = buffers[2];
  p.o = buffers[3];
  p.lse = buffers[4];
  if (p.buckets != 0)
    p.biasTable = buffers[5];

  if (p.isSlice() && !p.earlier && p.causal && p.firstQuery() < 0) {
    *error = "attention: query " + std::to_string(p.queryStart) +
             " sees no key of the first slice, which starts at " +
             std::to_string(p.keyStart);
    return TSR_INVALID_ARGUMENT;
  }
  if (p.earlier && p.isHidden())
    return 0; // earlier slices are all there is

  thread_local Workspace workspace, biases, segments;
  if (int32_t status = preparePositionBias(&p, &biases, error))
    return status;
  const int biasBuffers = p.buckets != 0 ? 1 : 0;
  if (int32_t status =
          prepareSegments(&p, buffers + 5 + biasBuffers, &segments, error))
    return status;
  const CpuKernels &kernels = cpuKernels();
  return runAttentionUnits(p, AttentionUnits::forward(p, threads),
                           {kernels.attentionScratch[p.dtype],
                            kernels.attention[p.dtype], &workspace, threads},
                           error);
} catch (const std::exception &failure) {
  *error = std::string("attention: ") + failure.what();
  return TSR_OUT_OF_MEMORY;
}
