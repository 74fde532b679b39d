//===- CalibrateGpus.h - tessera calibrate --device cuda --------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_CALIBRATE_CALIBRATEGPUS_H
#define TESSERA_TOOLS_TESSERA_CALIBRATE_CALIBRATEGPUS_H

#include "tessera/Simulate/Cluster.h"
#include <optional>
#include <string>

namespace tessera {

struct MeasuredGpus {
  simulate::Cluster cluster;
  std::string comment; ///< Lines that say how its numbers are to be read.
};

/// Measures the GPUs that this process sees, which must be alike; with few
/// sizes if it is to be quick. Nothing after an error, which is printed.
std::optional<MeasuredGpus> measureGpus(bool isQuick);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_CALIBRATE_CALIBRATEGPUS_H
