//===- CpuDevice.h - ranks on the threads of this process
//---------------------===
#ifndef TESSERA_RUNTIME_CPUDEVICE_H
#define TESSERA_RUNTIME_CPUDEVICE_H

#include "Rank.h"

namespace tessera {

/// The table of the CPU's entries (Entries.cpp); its context is a Rank.
const tsr_abi_api &cpuApi();

/// Runs the program on `arena` with the CPU's entries.
Status runOnCpu(Rank &rank, unsigned char *arena, const ProgramStep &step);

} // namespace tessera

#endif // TESSERA_RUNTIME_CPUDEVICE_H
