//===- RingSuite.h - what a ring of attention passes on ---------*- C++ -*-===//
// For every communicator: the world's second axis is the ring.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_TEST_RUNTIME_CUDA_RINGSUITE_H
#define TESSERA_TEST_RUNTIME_CUDA_RINGSUITE_H

#include "test/Runtime/cuda/GpuWorld.h"

namespace gpu {

void expectShiftGivesToTheNext(WorldOptions options, bool isAsync);
void expectZigzagDealsTwoChunks(WorldOptions options, bool isAsync);

} // namespace gpu

#endif // TESSERA_TEST_RUNTIME_CUDA_RINGSUITE_H
