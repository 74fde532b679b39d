//===- CpuDevice.h - ranks on the threads of this process -------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_CALLS_CPUDEVICE_H
#define TESSERA_RUNTIME_CALLS_CPUDEVICE_H

#include "runtime/device/Rank.h"

namespace tessera {

/// Returns the table of the CPU's entries (Entries.cpp); its context is a Rank.
const tsr_abi_api &cpuApi();

/// Runs the program on `arena` with the CPU's entries.
Status runOnCpu(Rank &rank, unsigned char *arena, const ProgramStep &step);

} // namespace tessera

#endif // TESSERA_RUNTIME_CALLS_CPUDEVICE_H
