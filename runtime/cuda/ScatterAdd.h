//===- ScatterAdd.h - the gradient of an embedding lookup -------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_CUDA_SCATTERADD_H
#define TESSERA_RUNTIME_CUDA_SCATTERADD_H

#include "runtime/cpu/ScatterProblem.h"

#include <cstddef>
#include <cuda_runtime_api.h>

namespace tessera::cuda {

/// Returns the bytes of device memory that scatterAdd needs.
size_t scatterWorkspace(const ScatterProblem &problem);

/// table[ids[r] - start, :] += source[r, :], rows in order: the CPU's bits.
/// Sorts the rows by table row (stable) and gives each table row to one block.
cudaError_t scatterAdd(const ScatterProblem &problem, void *workspace,
                       cudaStream_t stream);

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_SCATTERADD_H
