//===- GpuPrograms.h - what calibrate runs on GPUs --------------*- C++ -*-===//

#ifndef TESSERA_LIB_CALIBRATE_GPUPROGRAMS_H
#define TESSERA_LIB_CALIBRATE_GPUPROGRAMS_H

#include "lib/Calibrate/CalibrationPrograms.h"
#include "lib/Calibrate/GpuMachine.h"

namespace tessera {

/// Serial programs, which compute on one GPU, and, if there are several GPUs,
/// programs for their links. Programs that need most of a GPU's memory are left
/// out.
std::vector<CalibrationProgram> gpuPrograms(const GpuMachine &machine,
                                            bool isQuick);

} // namespace tessera

#endif // TESSERA_LIB_CALIBRATE_GPUPROGRAMS_H
