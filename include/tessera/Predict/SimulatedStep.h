//===- SimulatedStep.h - the step of a program on a cluster -----*- C++ -*-===//

#ifndef TESSERA_PREDICT_SIMULATEDSTEP_H
#define TESSERA_PREDICT_SIMULATEDSTEP_H

#include "tessera/Report/Report.h"
#include "tessera/Simulate/Simulate.h"

namespace tessera {

struct SimulatedStep {
  enum class Spans { Dropped, Kept };
  simulate::Program program;
  /// In the form in which the program's ranks share it.
  simulate::Cluster cluster;
  simulate::StepTimes times;
};

/// Simulates the training step of `metadata`, of which `report` was read.
llvm::Expected<SimulatedStep> simulateStep(llvm::StringRef metadata,
                                           const Report &report,
                                           const simulate::Cluster &machines,
                                           SimulatedStep::Spans spans);

} // namespace tessera

#endif // TESSERA_PREDICT_SIMULATEDSTEP_H
