//===- FitRates.h - rates of a machine from timed calls ---------*- C++ -*-===//

#ifndef TESSERA_LIB_CALIBRATE_FITRATES_H
#define TESSERA_LIB_CALIBRATE_FITRATES_H

#include "lib/Calibrate/MeasureProgram.h"
#include "tessera/Simulate/Cluster.h"

namespace tessera {

/// Fits the rates at which a rank computes, by the number of its threads.
std::map<int64_t, simulate::Device>
fitDevices(const std::vector<MeasuredProgram> &programs);

/// Fits the rates that the collectives and messages of the programs reach.
simulate::Link fitLink(const std::vector<MeasuredProgram> &programs);

} // namespace tessera

#endif // TESSERA_LIB_CALIBRATE_FITRATES_H
