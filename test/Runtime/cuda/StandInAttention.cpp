//===- StandInAttention.cpp - the CPU's attention in stream order ---------===//
// The key of dropout is read when the work runs, as a kernel would. What a call
// may ask for is the device's own code (AttentionCall.cpp).

#include "runtime/cpu/AttentionSegments.h"
#include "runtime/cpu/AttentionUnits.h"
#include "runtime/cpu/CpuKernels.h"
#include "runtime/cpu/PositionBias.h"
#include "runtime/cuda/attention/AttentionKernels.h"
#include "test/Runtime/cuda/StandInStream.h"

#include <cstring>

namespace tessera::cuda {

namespace {
AttentionProblem problemOf(const AttentionCall &call) {
  AttentionProblem p = attentionProblem(call);
  p.dropoutRule.key = call.dropout > 0 ? *call.key : 0;
  return p;
}

/// Sums over slices start from zero; they are contiguous f32.
void startSums(const AttentionProblem &p) {
  const auto zero = [](void *data, int64_t elements) {
    std::memset(data, 0, size_t(elements) * sizeof(float));
  };
  if (!p.earlier)
    zero(p.dQ, p.batch * p.seqQ * p.rowDQ);
  if (p.earlierKeys)
    return;
  zero(p.dK, p.batch * p.seqK * p.rowDK);
  zero(p.dV, p.batch * p.seqK * p.rowDV);
}

void prepareSegments(AttentionProblem *p, const void *queries, const void *keys,
                     Workspace *memory) {
  void *const buffers[] = {const_cast<void *>(queries),
                           const_cast<void *>(keys)};
  std::string error;
  tessera::prepareSegments(p, buffers, memory, &error);
}
} // namespace

cudaError_t attentionForward(const AttentionCall &call, const void *q,
                             const void *k, const void *v, void *o, void *lse,
                             const void *table, const void *querySegments,
                             const void *keySegments, void *,
                             cudaStream_t stream) {
  if (checkAttention(call) || checkAttentionSlice(call) || call.lacksKey())
    return cudaErrorInvalidValue;
  stream->push([=] {
    AttentionProblem p = problemOf(call);
    p.q = q, p.k = k, p.v = v, p.o = o, p.lse = lse;
    p.biasTable = table;
    if (p.earlier && p.isHidden())
      return;
    Workspace workspace, biases, segments;
    std::string error;
    prepareSegments(&p, querySegments, keySegments, &segments);
    preparePositionBias(&p, &biases, &error);
    runAttentionUnits(p, AttentionUnits::forward(p, 1),
                      {cpuKernels().attentionScratch[p.dtype],
                       cpuKernels().attention[p.dtype], &workspace, 1},
                      &error);
  });
  return cudaSuccess;
}

cudaError_t attentionBackward(const AttentionCall &call, const void *dO,
                              const void *q, const void *k, const void *v,
                              const void *o, const void *lse, void *dQ,
                              void *dK, void *dV, const void *table,
                              void *dTable, const void *querySegments,
                              const void *keySegments, void *,
                              cudaStream_t stream) {
  if (checkAttention(call) || checkAttentionGradients(call) || call.lacksKey())
    return cudaErrorInvalidValue;
  stream->push([=] {
    AttentionProblem p = problemOf(call);
    p.q = q, p.k = k, p.v = v, p.dO = dO;
    p.o = const_cast<void *>(o), p.lse = const_cast<void *>(lse);
    p.dQ = dQ, p.dK = dK, p.dV = dV;
    p.biasTable = table, p.dBiasTable = dTable;
    if (p.isSlice())
      startSums(p);
    if (p.isSlice() && p.isHidden())
      return;
    Workspace workspace, biases, gradients, segments;
    std::string error;
    prepareSegments(&p, querySegments, keySegments, &segments);
    preparePositionBias(&p, &biases, &error);
    preparePositionGradient(&p, &gradients, &error);
    runAttentionUnits(p, AttentionUnits::backward(p, 1),
                      {cpuKernels().attentionBackwardScratch[p.dtype],
                       cpuKernels().attentionBackward[p.dtype], &workspace, 1},
                      &error);
    finishPositionGradient(p);
  });
  return cudaSuccess;
}

} // namespace tessera::cuda
