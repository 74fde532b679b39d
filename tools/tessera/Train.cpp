//===- Train.cpp - tessera train ------------------------------------------===//

#include "tools/tessera/Commands.h"
#include "tools/tessera/input/ArtifactFile.h"
#include "tools/tessera/options/FileChecks.h"
#include "tools/tessera/report/PrintError.h"
#include "tools/tessera/report/Report.h"
#include "tools/tessera/train/Training.h"
#include "tools/tessera/train/TrainingPage.h"
#include "llvm/Support/FormatVariadic.h"

using namespace tessera;

/// The first start of a command that is repeated finds no checkpoint; later
/// ones need the weights no more with which it began.
static void resumeIfAny(DriverOptions &options) {
  if (!options.resumesIfAny || findCheckpoint(options.checkpointDir).empty())
    return;
  options.resumes = true;
  options.resumeDir = options.checkpointDir;
  options.weights.clear();
  options.adapter.clear();
}

/// Completes what is given of the learning rate. Returns what is wrong, or "".
static std::string useCompiledRate(DriverOptions &options,
                                   const Report &report) {
  return options.isArtifact()
             ? mergeRate(report.learningRate, options.plan.learningRate,
                         options.givenRate)
             : "";
}

static void printRateChanges(const LearningRateOptions &compiled,
                             const LearningRateOptions &rate) {
  std::string changes = rateChanges(compiled, rate);
  if (!changes.empty())
    std::printf("learning rate: as compiled, except %s\n", changes.c_str());
}

/// A default is no reason to refuse a short run, whose steps are those of a
/// longer one.
static void noteWarmup(const LearningRateOptions &rate) {
  if (rate.warmupSteps > rate.totalSteps)
    printNote(llvm::formatv("the warm-up of {0} steps is longer than the run "
                            "of {1}, which ends before the learning rate "
                            "reaches {2}; --warmup-steps shortens it",
                            rate.warmupSteps, rate.totalSteps, rate.largest));
}

static void describeRate(const DriverOptions &options, const Report &report) {
  if (options.launch.rank != 0)
    return;
  if (options.isArtifact())
    printRateChanges(report.learningRate, options.plan.learningRate);
  noteWarmup(options.plan.learningRate);
}

int tessera::runTrain(const DriverOptions &given) {
  DriverOptions options = given;
  if (!options.launch.isAlone())
    setErrorRank(options.launch.rank);
  if (std::string problem = limitRanks(options); !problem.empty())
    return printError(problem);
  resumeIfAny(options);
  if (std::string problem = checkRunFiles(options); !problem.empty())
    return printError(problem);
  ArtifactFile artifact;
  Report report;
  auto fitsData = [&](const DataSizes &sizes) {
    return openTrainingData(options, sizes, options.seed) &&
           (!options.hasEvaluationData() || openEvaluationData(options, sizes));
  };
  if (!artifact.open(options, fitsData) || !report.read(artifact.metadata()))
    return 1;
  if (std::string problem = useCompiledRate(options, report); !problem.empty())
    return printError(problem);
  // A process that was started without the option would trust anybody.
  options.shared.emplace_back(
      "--trusted-key", options.trustedKeys.empty() ? "" : artifact.signer());
  // What is found on the disk counts, and not how it was asked for.
  options.shared.emplace_back("--resume", options.resumeDir);
  TrainingPage page(options, report, artifact.metadata());
  Training training(options, artifact.get(), report.modelFlops(), page);
  if (!page.simulate() || !training.prepare())
    return 1;
  if (training.isFinished())
    return training.finish() ? 0 : 1;
  if (options.launch.rank == 0)
    std::printf("training %s%s\n", report.headline().c_str(),
                processesText(options.launch).c_str());
  describeRate(options, report);
  training.printDevice();
  bool isDone = training.run();
  training.printDevice();
  return isDone ? 0 : 1;
}
