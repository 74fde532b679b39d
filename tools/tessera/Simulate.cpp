//===- Simulate.cpp - tessera simulate ------------------------------------===//

#include "tessera/Target/OutputFile.h"
#include "tools/tessera/Commands.h"
#include "tools/tessera/input/ArtifactFile.h"
#include "tools/tessera/input/CompileModel.h"
#include "tools/tessera/options/TextWrap.h"
#include "tools/tessera/page/Page.h"
#include "tools/tessera/report/Output.h"
#include "tools/tessera/report/PrintError.h"
#include "tools/tessera/simulate/ClusterDevice.h"
#include "tools/tessera/simulate/Prediction.h"
#include "tools/tessera/simulate/SimulatedStep.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tessera;

/// Of a model or an artifact; nothing after an error.
static std::optional<std::string> metadataOf(const DriverOptions &options) {
  if (!options.isArtifact())
    return describeModel(options);
  ArtifactFile artifact;
  if (!artifact.open(options))
    return std::nullopt;
  return artifact.metadata();
}

/// False after an error that has been printed.
static bool writeTrace(const Prediction &prediction, const std::string &path) {
  if (path.empty())
    return true;
  if (std::error_code error = writeOutput(path, {prediction.trace()}))
    return !printError("cannot write '" + path + "': " + error.message());
  return true;
}

/// Nothing where no file is named. False after an error that has been printed.
static bool readMeasured(const std::string &path,
                         const simulate::Program &program,
                         std::optional<MeasuredStep> &measured) {
  if (path.empty())
    return true;
  Expected<MeasuredStep> step = readMeasuredStep(path, program);
  if (!step)
    return !printError(toString(step.takeError()));
  measured = std::move(*step);
  return true;
}

/// Nothing where the cluster's file says nothing of it. False after an error
/// that has been printed.
static bool findSoftwareMemory(const DriverOptions &options,
                               const SimulatedStep &step, const Report &report,
                               std::optional<SoftwareMemory> &memory) {
  if (!step.cluster.software.memory)
    return true;
  memory =
      softwareMemory(options, step.program.precision, step.cluster, report);
  return memory.has_value();
}

int tessera::runSimulate(const DriverOptions &given) {
  Expected<simulate::Cluster> cluster = simulate::readCluster(given.cluster);
  if (!cluster)
    return printError(toString(cluster.takeError()));
  std::optional<DriverOptions> taken = optionsFor(*cluster, given);
  if (!taken)
    return 1;
  const DriverOptions &options = *taken;
  std::optional<std::string> metadata = metadataOf(options);
  Report report;
  if (!metadata || !report.read(*metadata))
    return 1;
  bool keepsSpans =
      options.json || !options.trace.empty() || !options.html.empty();
  std::optional<SimulatedStep> step = simulateStep(
      *metadata, report, *cluster,
      keepsSpans ? SimulatedStep::Spans::Kept : SimulatedStep::Spans::Dropped);
  std::optional<MeasuredStep> measured;
  std::optional<SoftwareMemory> memory;
  if (!step ||
      !readMeasured(options.simulate.measured, step->program, measured) ||
      !findSoftwareMemory(options, *step, report, memory))
    return 1;
  Prediction prediction{step->program, step->cluster, step->times,
                        measured ? &*measured : nullptr,
                        memory ? &*memory : nullptr};
  if (!writeTrace(prediction, options.trace) ||
      !writePage(options.html, "simulate", report.headline(),
                 prediction.json()))
    return 1;
  if (options.json)
    printJson(prediction.json(), 2);
  else
    standardOutput() << report.headline() << "\n"
                     << prediction.text(kTerminalWidth);
  return 0;
}
