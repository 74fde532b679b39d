//===- StandInKernels.cpp - on the CPU, what the GPU's libraries compute --===//
// The interfaces of MatrixProducts, ScatterAdd and Reduction in stream order;
// a reduction is the GPU kernel's own code.

#include "../../runtime/cuda/Check.h"
#include "../../runtime/cuda/MatrixProducts.h"
#include "../../runtime/cuda/ReduceElement.h"
#include "../../runtime/cuda/ScatterAdd.h"
#include "../../runtime/cuda/experts/RoutedKernels.h"
#include "CpuEntries.h"
#include "CudaDevice.h"
#include "StandInStream.h"

#include <cstring>

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

/// What is reserved for lists is overwritten, as the kernels do.
cudaError_t routed(const RoutedProblem &p, void *workspace,
                   cudaStream_t stream) {
  stream->push([p, workspace] {
    std::memset(workspace, 0xEE, routedWorkspace(p));
    std::vector<int64_t> args = {p.kind,    p.tokens,  p.experts,  p.columns,
                                 p.inner,   p.k,       p.weighted, p.transposed,
                                 p.dtypeIn, p.dtypeOut};
    void *buffers[4] = {};
    void **at = buffers;
    for (const void *each :
         {p.first, p.second, p.gates, static_cast<const void *>(p.result)})
      if (each)
        *at++ = const_cast<void *>(each);
    std::string error;
    if (cpuRouted(1, buffers, args.data(), &error) != 0)
      std::abort();
  });
  return cudaSuccess;
}

cudaError_t zeroUnrouted(const GatedRows &g, cudaStream_t stream) {
  stream->push([g] {
    for (int64_t row = 0; row < g.experts * g.tokens; ++row)
      if (static_cast<const float *>(
              g.gates)[row % g.tokens * g.experts + row / g.tokens] == 0)
        std::memset(static_cast<char *>(g.rows) + row * g.rowBytes, 0,
                    g.rowBytes);
  });
  return cudaSuccess;
}

namespace {
/// The kernel's code, element by element.
template <class T> void reduceAll(const Reduction &what) {
  for (int64_t e = 0; e < what.outer * what.count; ++e)
    if (what.reduction == TSR_REDUCE_MAX)
      reduceElement<T, Max>(what, e);
    else
      reduceElement<T, Add>(what, e);
}
} // namespace

cudaError_t reduce(const Reduction &what, cudaStream_t stream) {
  stream->push([what] {
    switch (what.dtype) {
    case TSR_DTYPE_F32:
      return reduceAll<float>(what);
    case TSR_DTYPE_BF16:
      return reduceAll<Bf16>(what);
    case TSR_DTYPE_F64:
      return reduceAll<double>(what);
    case TSR_DTYPE_I32:
      return reduceAll<int32_t>(what);
    }
    std::abort();
  });
  return cudaSuccess;
}

DeviceReport CudaDevice::report() const { return {}; }

} // namespace tessera::cuda
