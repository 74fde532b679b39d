//===- SimulatedStep.h - the step of a program on a cluster -----*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_SIMULATE_SIMULATEDSTEP_H
#define TESSERA_TOOLS_TESSERA_SIMULATE_SIMULATEDSTEP_H

#include "tessera/Simulate/Simulate.h"
#include "tools/tessera/report/Report.h"
#include <optional>

namespace tessera {

struct SimulatedStep {
  enum class Spans { Dropped, Kept };
  simulate::Program program;
  /// In the form in which the program's ranks share it.
  simulate::Cluster cluster;
  simulate::StepTimes times;
};

/// The training step of `metadata`, of which `report` was read. Prints errors.
std::optional<SimulatedStep> simulateStep(llvm::StringRef metadata,
                                          const Report &report,
                                          const simulate::Cluster &machines,
                                          SimulatedStep::Spans spans);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_SIMULATE_SIMULATEDSTEP_H
