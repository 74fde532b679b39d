//===- FitGpu.h - a cluster of GPUs from timed calls ------------*- C++ -*-===//
// The numbers of the cluster are those with which the costs of lib/Simulate are
// nearest to the measured times: by least squares of the logarithm of the time,
// so that small calls count as much as large ones.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_CALIBRATE_FITGPU_H
#define TESSERA_LIB_CALIBRATE_FITGPU_H

#include "lib/Calibrate/GpuMachine.h"
#include "lib/Calibrate/MeasureProgram.h"
#include "tessera/Simulate/Cluster.h"

namespace tessera {

struct GpuMeasurements {
  std::vector<MeasuredProgram> computing;     ///< Programs of one rank each.
  std::vector<MeasuredProgram> communicating; ///< Programs of several GPUs.
};

/// Fits a cluster of one node. Its links are left out if it has one GPU. An
/// error says which kind of call was not timed.
llvm::Expected<simulate::Cluster> fitGpu(const GpuMachine &machine,
                                         const GpuMeasurements &measurements);

} // namespace tessera

#endif // TESSERA_LIB_CALIBRATE_FITGPU_H
