//===- Simulate.cpp - tessera simulate ------------------------------------===//

#include "tessera/Simulate/Simulate.h"
#include "tessera/Target/OutputFile.h"
#include "tools/tessera/Commands.h"
#include "tools/tessera/input/ArtifactFile.h"
#include "tools/tessera/input/CompileModel.h"
#include "tools/tessera/options/TextWrap.h"
#include "tools/tessera/page/Page.h"
#include "tools/tessera/report/PrintError.h"
#include "tools/tessera/simulate/Prediction.h"
#include "tools/tessera/simulate/ReadProgram.h"
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

int tessera::runSimulate(const DriverOptions &options) {
  Expected<simulate::Cluster> cluster =
      simulate::readCluster(options.simulate.cluster);
  if (!cluster)
    return printError(toString(cluster.takeError()));
  std::optional<std::string> metadata = metadataOf(options);
  Report report;
  if (!metadata || !report.read(*metadata))
    return 1;
  std::optional<simulate::Program> program = readProgram(*metadata, report);
  if (!program)
    return 1;
  *cluster = cluster->sharedBy(program->ranks());
  bool keepsSpans =
      options.json || !options.trace.empty() || !options.html.empty();
  Expected<simulate::StepTimes> times =
      simulate::simulate(*program, *cluster, keepsSpans);
  if (!times)
    return printError(toString(times.takeError()));
  Prediction prediction{*program, *cluster, *times};
  if (!writeTrace(prediction, options.trace) ||
      !writePage(options.html, "simulate", report.headline(),
                 prediction.json()))
    return 1;
  if (options.json)
    outs() << formatv("{0:2}", prediction.json()) << "\n";
  else
    outs() << report.headline() << "\n" << prediction.text(kTerminalWidth);
  return 0;
}
