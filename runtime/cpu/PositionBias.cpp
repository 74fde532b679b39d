//===- PositionBias.cpp - Attention's bias by distance --------------------===//

#include "runtime/cpu/PositionBias.h"
#include "runtime/cpu/PositionBucket.h"
#include "tessera/abi.h"
#include "tessera/tessera.h"

#include <algorithm>
#include <cstring>

using namespace tessera;

int64_t tessera::positionBucket(const AttentionProblem &p, int64_t behind) {
  return PositionBuckets{p.buckets, p.maxDistance, p.causal}.at(behind);
}

/// Distances that occur, and room for the last vector of lanes.
static int64_t span(const AttentionProblem &p) { return p.seqQ + p.seqK - 1; }
static int64_t rowOf(const AttentionProblem &p) {
  return span(p) + kAttentionBlock;
}
static int64_t behindAt(const AttentionProblem &p, int64_t i) {
  return p.firstQuery() + i - (p.seqK - 1);
}
static size_t elementBytes(const AttentionProblem &p) {
  return p.dtype == TSR_DTYPE_F64 ? sizeof(double) : sizeof(float);
}

static int32_t reserve(const AttentionProblem &p, int64_t vectors,
                       Workspace *memory, void **out, std::string *error) {
  const size_t bytes = size_t(vectors * rowOf(p)) * elementBytes(p);
  *out = memory->reserve(bytes);
  if (*out) {
    std::memset(*out, 0, bytes);
    return 0;
  }
  *error = "attention: no memory for " + std::to_string(bytes) +
           " bytes of position biases";
  return TSR_OUT_OF_MEMORY;
}

template <typename T> static void spread(const AttentionProblem &p, T *out) {
  const T *table = static_cast<const T *>(p.biasTable);
  for (int64_t i = 0; i < span(p); ++i) {
    const int64_t row = positionBucket(p, behindAt(p, i)) * p.heads;
    for (int64_t h = 0; h < p.heads; ++h)
      out[h * rowOf(p) + i] = table[row + h];
  }
}

template <typename T> static void gather(const AttentionProblem &p) {
  T *table = static_cast<T *>(p.dBiasTable);
  const T *from = static_cast<const T *>(p.dBias);
  std::fill(table, table + p.buckets * p.heads, T(0));
  for (int64_t i = 0; i < span(p); ++i) {
    const int64_t row = positionBucket(p, behindAt(p, i)) * p.heads;
    for (int64_t b = 0; b < p.batch; ++b)
      for (int64_t h = 0; h < p.heads; ++h)
        table[row + h] += from[(b * p.heads + h) * rowOf(p) + i];
  }
}

int32_t tessera::preparePositionBias(AttentionProblem *p, Workspace *memory,
                                     std::string *error) {
  p->biasRow = rowOf(*p);
  if (p->buckets == 0)
    return 0;
  void *out = nullptr;
  if (int32_t status = reserve(*p, p->heads, memory, &out, error))
    return status;
  if (p->dtype == TSR_DTYPE_F64)
    spread(*p, static_cast<double *>(out));
  else
    spread(*p, static_cast<float *>(out));
  p->bias = out;
  return 0;
}

int32_t tessera::preparePositionGradient(AttentionProblem *p, Workspace *memory,
                                         std::string *error) {
  if (p->buckets == 0)
    return 0;
  return reserve(*p, p->batch * p->heads, memory, &p->dBias, error);
}

void tessera::finishPositionGradient(const AttentionProblem &p) {
  if (p.buckets == 0)
    return;
  if (p.dtype == TSR_DTYPE_F64)
    gather<double>(p);
  else
    gather<float>(p);
}
