//===- AttentionKernels.cu - The entries ----------------------------------===//
// A .cu file because the table needs the kernels' types; it instantiates none.

#include "runtime/cuda/attention/AttentionKernels.h"
#include "runtime/cuda/attention/KernelTable.h"
#include "runtime/cuda/attention/Launch.h"
#include "tessera/abi.h"

using namespace tessera::cuda;

cudaError_t tessera::cuda::attentionForward(
    const AttentionCall &call, const void *q, const void *k, const void *v,
    void *o, void *lse, const void *table, const void *querySegments,
    const void *keySegments, void *workspace, cudaStream_t stream) {
  if (checkAttention(call) || checkAttentionSlice(call) || call.lacksKey())
    return cudaErrorInvalidValue;
  AttentionBuffers buffers = {};
  buffers.q = q;
  buffers.k = k;
  buffers.v = v;
  buffers.o = o;
  buffers.lse = lse;
  buffers.workspace = workspace;
  buffers.table = table;
  buffers.querySegments = querySegments;
  buffers.keySegments = keySegments;
  return runForward(makeParams(call, buffers), call.dtype == TSR_DTYPE_BF16,
                    CudaLaunch{stream});
}

cudaError_t tessera::cuda::attentionBackward(
    const AttentionCall &call, const void *dO, const void *q, const void *k,
    const void *v, const void *o, const void *lse, void *dQ, void *dK, void *dV,
    const void *table, void *dTable, const void *querySegments,
    const void *keySegments, void *workspace, cudaStream_t stream) {
  if (checkAttention(call) || checkAttentionGradients(call) || call.lacksKey())
    return cudaErrorInvalidValue;
  const AttentionBuffers buffers = {
      q,  k,         v,     o,      lse,           dO,         dQ, dK,
      dV, workspace, table, dTable, querySegments, keySegments};
  return runBackward(makeParams(call, buffers), call.dtype == TSR_DTYPE_BF16,
                     CudaLaunch{stream});
}
