//===- SimulatedStep.cpp - the step of a program on a cluster -------------===//

#include "tools/tessera/simulate/SimulatedStep.h"
#include "tools/tessera/report/PrintError.h"

using namespace tessera;

std::optional<SimulatedStep>
tessera::simulateStep(llvm::StringRef metadata, const Report &report,
                      const simulate::Cluster &machines,
                      SimulatedStep::Spans spans) {
  llvm::Expected<simulate::Program> program =
      simulate::readStep(metadata, report.program);
  if (!program) {
    printError(llvm::toString(program.takeError()));
    return std::nullopt;
  }
  simulate::Cluster cluster = machines.sharedBy(program->ranks());
  llvm::Expected<simulate::StepTimes> times = simulate::simulate(
      *program, cluster, spans == SimulatedStep::Spans::Kept);
  if (!times) {
    printError(llvm::toString(times.takeError()));
    return std::nullopt;
  }
  return SimulatedStep{std::move(*program), std::move(cluster),
                       std::move(*times)};
}
