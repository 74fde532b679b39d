//===- GridEmulator.h - runs CUDA kernels on the CPU ------------*- C++ -*-===//
// For programs that went through emulate-grid. A thread is a fiber; a warp goes
// on when all its lanes have come to the same shuffle, a block when all threads
// have come to the barrier. Lanes and warps run in a shuffled order, so that
// code which needs an order it did not ask for fails sooner or later.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_TEST_EMULATOR_GRIDEMULATOR_H
#define TESSERA_TEST_EMULATOR_GRIDEMULATOR_H

#include "tessera/Conversion/KernelToLLVM/DeviceKernel.h"

namespace tessera::test {

/// The table to store in `tsr_grid_emulator`. Divergence at a barrier or a
/// shuffle ends the process with a message: on a GPU it would hang or compute
/// garbage.
const GridEmulator &gridEmulator();

} // namespace tessera::test

#endif // TESSERA_TEST_EMULATOR_GRIDEMULATOR_H
