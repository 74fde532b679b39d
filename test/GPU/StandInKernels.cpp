//===- StandInKernels.cpp - on the CPU, what the GPU's libraries compute --===//
// The interfaces of MatrixProducts, ScatterAdd and Reduction in stream order.

#include "../../runtime/cuda/Check.h"
#include "../../runtime/cuda/MatrixProducts.h"
#include "../../runtime/cuda/Reduction.h"
#include "../../runtime/cuda/ScatterAdd.h"
#include "CpuEntries.h"
#include "CudaDevice.h"
#include "Reduce.h"
#include "StandInStream.h"

namespace tessera::cuda {

struct MatrixProducts::Plan {};
MatrixProducts::MatrixProducts() {}
MatrixProducts::~MatrixProducts() {}

void MatrixProducts::run(const GemmProblem &p, void *, cudaStream_t stream) {
  stream->push([p] {
    std::vector<int64_t> args = {p.m,          p.n,       p.k,      p.lda,
                                 p.ldb,        p.ldc,     p.transA, p.transB,
                                 p.accumulate, p.dtypeAB, p.dtypeC, p.batch,
                                 p.strideA,    p.strideB, p.strideC};
    void *buffers[] = {const_cast<void *>(p.a), const_cast<void *>(p.b), p.c,
                       const_cast<void *>(p.bias)};
    std::string error;
    if (cpuGemm(1, buffers, args.data(), &error) != 0)
      std::abort();
  });
}

size_t scatterWorkspace(const ScatterProblem &p) {
  return static_cast<size_t>(p.rows) * 16;
}

cudaError_t scatterAdd(const ScatterProblem &p, void *, cudaStream_t stream) {
  stream->push([p] {
    std::vector<int64_t> args = {p.rows,  p.columns,     p.start,
                                 p.valid, p.dtypeSource, p.dtypeTable};
    void *buffers[] = {const_cast<void *>(p.source),
                       const_cast<int32_t *>(p.ids), p.table};
    std::string error;
    if (cpuScatterAdd(1, buffers, args.data(), &error) != 0)
      std::abort();
  });
  return cudaSuccess;
}

cudaError_t reduce(const Reduction &what, cudaStream_t stream) {
  stream->push([what] {
    std::vector<const void *> sources(what.sources.data,
                                      what.sources.data + what.sources.count);
    std::vector<void *> targets(what.targets.data,
                                what.targets.data + what.targets.count);
    for (int64_t o = 0; o < what.outer; ++o) {
      int64_t from = o * what.sourceStride + what.sourceOffset;
      int64_t to = o * what.count + what.targetOffset;
      reduceRange({what.dtype, what.reduction, sources}, from,
                  from + what.count, targets, from - to);
    }
  });
  return cudaSuccess;
}

DeviceReport CudaDevice::report() const { return {}; }

} // namespace tessera::cuda
