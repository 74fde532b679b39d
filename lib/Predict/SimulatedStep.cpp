//===- SimulatedStep.cpp - the step of a program on a cluster -------------===//

#include "tessera/Predict/SimulatedStep.h"

using namespace tessera;

llvm::Expected<SimulatedStep>
tessera::simulateStep(llvm::StringRef metadata, const Report &report,
                      const simulate::Cluster &machines,
                      SimulatedStep::Spans spans) {
  llvm::Expected<simulate::Program> program =
      simulate::readStep(metadata, report.program);
  if (!program)
    return program.takeError();
  simulate::Cluster cluster = machines.sharedBy(program->ranks());
  llvm::Expected<simulate::StepTimes> times = simulate::simulate(
      *program, cluster, spans == SimulatedStep::Spans::Kept);
  if (!times)
    return times.takeError();
  return SimulatedStep{std::move(*program), std::move(cluster),
                       std::move(*times)};
}
