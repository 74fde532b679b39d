//===- StandInKernels.cpp - on the CPU, what the GPU's libraries compute --===//
// The interfaces of ScatterAdd and Reduction in stream order;
// a reduction is the GPU kernel's own code.

#include "runtime/cpu/CpuEntries.h"
#include "runtime/cuda/Check.h"
#include "runtime/cuda/CudaDevice.h"
#include "runtime/cuda/ScatterAdd.h"
#include "runtime/cuda/collectives/Collectives.h"
#include "runtime/cuda/collectives/ReduceElement.h"
#include "test/Runtime/cuda/StandInStream.h"

namespace tessera::cuda {

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

namespace {
/// Runs the kernel's code, element by element.
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

DeviceReport CudaDevice::report() const {
  return {"", {{"nccl", ncclVersion(), "", ""}}, visibleDevices()};
}

} // namespace tessera::cuda
