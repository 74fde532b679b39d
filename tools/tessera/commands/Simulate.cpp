//===- Simulate.cpp - tessera simulate ------------------------------------===//

#include "tessera/Page/Page.h"
#include "tessera/Predict/ClusterDevice.h"
#include "tessera/Predict/Prediction.h"
#include "tessera/Predict/SimulatedStep.h"
#include "tessera/Predict/SoftwareMemory.h"
#include "tessera/Target/OutputFile.h"
#include "tessera/Text/TextWrap.h"
#include "tools/tessera/input/CompilerContext.h"
#include "tools/tessera/input/ModelFiles.h"
#include "tools/tessera/input/OpenModel.h"
#include "tools/tessera/options/Command.h"
#include "tools/tessera/options/FileChecks.h"
#include "tools/tessera/options/GroupDeclarations.h"
#include "tools/tessera/options/PlanGroup.h"
#include "tools/tessera/output/Output.h"
#include "tools/tessera/output/PrintError.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tessera;

namespace {

class Simulate : public Command {
public:
  void declare(CLI::App &app) override;
  void check(CLI::App &app) override;
  int run() override;

private:
  std::string checkNamedFiles();
  std::optional<std::string> metadata() const;
  bool findSoftwareMemory(const SimulatedStep &step, const Report &report,
                          std::optional<SoftwareMemory> &memory) const;

  PlannedModel options;
  PlanGroup plan{options};
  std::string clusterFile;
  std::string measuredFile;    ///< A trace of the step as it ran.
  std::string traceFile, html; ///< They are written.
  bool json = false;
  TakenFromCluster taken;
};

const CommandRegistration<Simulate>
    registration({70, "simulate", "Predict the time of a step on a cluster",
                  " examples/gpt2-tiny --mesh dp=2,tp=2 --cluster "
                  "clusters/a100.toml"});

} // namespace

void Simulate::declare(CLI::App &app) {
  declareModel(app, options, ModelKinds::SourcesAndArtifacts);
  beginGroup(app, "Simulation", "--cluster clusters/a100.toml --trace t.json");
  requireCluster(app, clusterFile);
  app.add_option("--trace", traceFile,
                 "Write the simulated step as a trace for Perfetto")
      ->type_name("FILE");
  app.add_option("--measured", measuredFile,
                 "Compare with this step, which --trace of train recorded; "
                 "--trace then writes both")
      ->type_name("FILE");
  declareJson(app, json);
  declarePage(app, html);
  plan.declare(app);
  plan.declareRanks(app);
  plan.declarePlanFile(app);
}

void Simulate::check(CLI::App &app) {
  plan.read(app);
  if (!options.isArtifact())
    taken = {!plan.isGiven("--device"), !plan.isGiven("--precision")};
  plan.checkRules(taken.device ? plan.given({FlagPurpose::Cuda})
                               : plan.given());
  plan.completeRate();
  plan.checkArtifact();
}

std::string Simulate::checkNamedFiles() {
  return firstOf({findModel(options, ModelKinds::SourcesAndArtifacts),
                  measuredFile.empty()
                      ? ""
                      : checkInput("--measured", measuredFile,
                                   "name a file that tessera train --trace "
                                   "wrote"),
                  checkOutput(html, "page.html")});
}

/// Returns that of a model or an artifact; nothing after an error.
std::optional<std::string> Simulate::metadata() const {
  if (!options.isArtifact())
    return describeModel(options);
  ArtifactFile artifact;
  if (!openArtifact(options, artifact))
    return std::nullopt;
  return artifact.metadata();
}

/// Writes the trace if a file is named. Returns false after an error, which is
/// printed.
static bool writeTrace(const Prediction &prediction, const std::string &path) {
  return path.empty() || !printIfError(writeFile(path, {prediction.trace()}));
}

/// Reads a trace; nothing if no file is named. False after an error that has
/// been printed.
static bool readMeasured(const std::string &path,
                         const simulate::Program &program,
                         std::optional<MeasuredStep> &measured) {
  if (path.empty())
    return true;
  Expected<MeasuredStep> step = readMeasuredStep(path, program);
  if (!step)
    return !printError(step.takeError());
  measured = std::move(*step);
  return true;
}

/// Finds the software's memory; nothing if the cluster's file says nothing of
/// it. False after an error that has been printed.
bool Simulate::findSoftwareMemory(const SimulatedStep &step,
                                  const Report &report,
                                  std::optional<SoftwareMemory> &memory) const {
  if (!step.cluster.software.memory)
    return true;
  CompilerContext compiler;
  mlir::FailureOr<SoftwareMemory> found = softwareMemory(
      compiler.context, options, step.program.precision, step.cluster, report);
  if (failed(found))
    return false;
  memory = std::move(*found);
  return true;
}

int Simulate::run() {
  if (std::string why = checkNamedFiles(); !why.empty())
    return printError(why);
  Expected<simulate::Cluster> cluster = simulate::readCluster(clusterFile);
  if (!cluster)
    return printError(cluster.takeError());
  if (std::string why = fitCluster(options.plan, *cluster, taken); !why.empty())
    return printError(why);
  std::optional<std::string> text = metadata();
  Report report;
  if (!text || printIfError(report.readWithoutCalls(*text)))
    return 1;
  bool keepsSpans = json || !traceFile.empty() || !html.empty();
  Expected<SimulatedStep> step = simulateStep(
      *text, report, *cluster,
      keepsSpans ? SimulatedStep::Spans::Kept : SimulatedStep::Spans::Dropped);
  if (!step)
    return printError(step.takeError());
  std::optional<MeasuredStep> measured;
  std::optional<SoftwareMemory> memory;
  if (!readMeasured(measuredFile, step->program, measured) ||
      !findSoftwareMemory(*step, report, memory))
    return 1;
  Prediction prediction{step->program, step->cluster, step->times,
                        measured ? &*measured : nullptr,
                        memory ? &*memory : nullptr};
  if (!writeTrace(prediction, traceFile) ||
      printIfError(
          writePage(html, "simulate", report.headline(), prediction.json())))
    return 1;
  if (json)
    printJson(prediction.json(), 2);
  else
    standardOutput() << report.headline() << "\n"
                     << prediction.text(kTerminalWidth);
  return 0;
}
