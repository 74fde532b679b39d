//===- AttentionBackward.cpp - The entry `attention_backward` -------------===//

#include "runtime/cpu/AttentionSegments.h"
#include "runtime/cpu/AttentionUnits.h"
#include "runtime/cpu/CpuEntries.h"
#include "runtime/cpu/CpuKernels.h"
#include "runtime/cpu/PositionBias.h"
#include "runtime/cpu/Workspace.h"
#include "tessera/abi.h"
#include "tessera/tessera.h"

#include <cstring>
#include <exception>

using namespace tessera;

/// Checks the strides that only backward uses.
static int32_t checkGradients(const AttentionProblem &p, std::string *error) {
  const int64_t q = p.heads * p.headDim, kv = p.kvHeads * p.headDim;
  if (p.rowDO >= q && p.rowDQ >= q && p.rowDK >= kv && p.rowDV >= kv)
    return 0;
  *error = "attention_backward: row strides of d_o, d_q, d_k, d_v are " +
           std::to_string(p.rowDO) + ", " + std::to_string(p.rowDQ) + ", " +
           std::to_string(p.rowDK) + ", " + std::to_string(p.rowDV) +
           ", at least " + std::to_string(q) + " (d_o, d_q) and " +
           std::to_string(kv) + " (d_k, d_v) are needed";
  return TSR_INVALID_ARGUMENT;
}

/// Sums over slices start from zero.
static void zeroRows(void *data, int64_t rows, int64_t stride, int64_t columns,
                     int64_t dtype) {
  const size_t element =
      dtype == TSR_DTYPE_F64 ? sizeof(double) : sizeof(float);
  for (int64_t r = 0; r < rows; ++r)
    std::memset(static_cast<char *>(data) + size_t(r * stride) * element, 0,
                size_t(columns) * element);
}

static void startSums(const AttentionProblem &p) {
  const int64_t q = p.heads * p.headDim, kv = p.kvHeads * p.headDim;
  if (!p.earlier)
    zeroRows(p.dQ, p.batch * p.seqQ, p.rowDQ, q, p.dtype);
  if (p.earlierKeys)
    return;
  zeroRows(p.dK, p.batch * p.seqK, p.rowDK, kv, p.dtype);
  zeroRows(p.dV, p.batch * p.seqK, p.rowDV, kv, p.dtype);
}

int32_t tessera::cpuAttentionBackward(int threads, void *const *buffers,
                                      const int64_t *args,
                                      std::string *error) try {
  AttentionProblem p;
  if (int32_t status = decodeAttention(args, &p, error))
    return status;
  if (int32_t status = checkGradients(p, error))
    return status;
  p.dO = buffers[0];
  p.q = buffers[1];
  p.k = buffers[2];
  p.v = buffers[3];
  p.o = buffers[4];
  p.lse = buffers[5];
  p.dQ = buffers[6];
  p.dK = buffers[7];
  p.dV = buffers[8];
  if (p.buckets != 0) {
    p.biasTable = buffers[9];
    p.dBiasTable = buffers[10];
  }

  if (p.isSlice())
    startSums(p);
  if (p.isSlice() && p.isHidden())
    return 0;

  thread_local Workspace workspace, biases, gradients, segments;
  if (int32_t status = preparePositionBias(&p, &biases, error))
    return status;
  if (int32_t status = preparePositionGradient(&p, &gradients, error))
    return status;
  const int biasBuffers = p.buckets != 0 ? 2 : 0;
  if (int32_t status =
          prepareSegments(&p, buffers + 9 + biasBuffers, &segments, error))
    return status;
  const CpuKernels &kernels = cpuKernels();
  const int32_t status = runAttentionUnits(
      p, AttentionUnits::backward(p, threads),
      {kernels.attentionBackwardScratch[p.dtype],
       kernels.attentionBackward[p.dtype], &workspace, threads},
      error);
  if (status == 0)
    finishPositionGradient(p);
  return status;
} catch (const std::exception &failure) {
  *error = std::string("attention_backward: ") + failure.what();
  return TSR_OUT_OF_MEMORY;
}
