//===- CalibrateGpus.h - tessera calibrate --device cuda --------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_CALIBRATE_CALIBRATEGPUS_H
#define TESSERA_TOOLS_TESSERA_CALIBRATE_CALIBRATEGPUS_H

#include "tools/tessera/options/DriverOptions.h"

namespace tessera {

/// Measures the GPUs that this process sees, which must be alike. Returns the
/// exit code of the command.
int calibrateGpus(const DriverOptions &options);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_CALIBRATE_CALIBRATEGPUS_H
