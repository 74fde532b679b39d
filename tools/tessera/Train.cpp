//===- Train.cpp - tessera train ------------------------------------------===//

#include "tools/tessera/Commands.h"
#include "tools/tessera/input/ArtifactFile.h"
#include "tools/tessera/input/SharedFiles.h"
#include "tools/tessera/options/FileChecks.h"
#include "tools/tessera/report/Output.h"
#include "tools/tessera/report/PrintError.h"
#include "tools/tessera/report/Report.h"
#include "tools/tessera/train/RunLength.h"
#include "tools/tessera/train/StartingPoint.h"
#include "tools/tessera/train/StopSignals.h"
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
  LearningRateOptions &rate = options.plan.learningRate;
  if (options.isArtifact())
    return mergeRate(report.learningRate(), rate, options.givenRate);
  return options.epochs > 0 ? completeRate(rate, options.givenRate) : "";
}

/// Returns which parameters stay as they are, in what is compiled now or in the
/// artifact that `report` describes.
static Frozen frozenParts(const DriverOptions &options, const Report *report) {
  const TrainingOptions &training = options.plan.training;
  if (report ? report->hasAdapters : training.lora.isGiven())
    return Frozen::AllButAdapters;
  bool isSome = report ? report->trainedParameters < report->parameters
                       : !training.frozen.empty();
  return isSome ? Frozen::Some : Frozen::None;
}

static void printRateChanges(const LearningRateOptions &compiled,
                             const LearningRateOptions &rate) {
  std::string changes = rateChanges(compiled, rate);
  if (!changes.empty())
    printFormatted("learning rate: as compiled, except %s\n", changes.c_str());
}

/// A default is no reason to refuse a short run, whose steps are those of a
/// longer one.
static void noteWarmup(const LearningRateOptions &rate) {
  if (rate.warmupSteps > rate.totalSteps)
    printNote(llvm::formatv("the warm-up of {0} steps is longer than the run "
                            "of {1}, which ends before the learning rate "
                            "reaches {2}; --warmup-steps shortens it",
                            rate.warmupSteps, rate.totalSteps,
                            exactText(rate.largest)));
}

static void noteNothingKept(const DriverOptions &options) {
  if (options.checkpointDir.empty())
    printNote("nothing of this run will be kept, because it has no "
              "--checkpoint-dir");
}

static void describeRate(const DriverOptions &options, const Report &report) {
  if (options.launch.rank != 0)
    return;
  if (options.isArtifact())
    printRateChanges(report.learningRate(), options.plan.learningRate);
  noteWarmup(options.plan.learningRate);
}

int tessera::runTrain(const DriverOptions &given) {
  DriverOptions options = given;
  handleStopSignals(options.launch.rank == 0);
  if (!options.launch.isAlone())
    setErrorRank(options.launch.rank);
  if (std::string problem = limitRanks(options); !problem.empty())
    return printError(problem);
  resumeIfAny(options);
  shareFiles(options);
  if (std::string problem = checkRunFiles(options); !problem.empty())
    return printError(problem);
  if (!options.isArtifact())
    if (std::string problem =
            checkStartingPoint(options, frozenParts(options, nullptr));
        !problem.empty())
      return printError(problem);
  if (!agreeOnProcessor(options))
    return 1;
  ArtifactFile artifact;
  Report report;
  auto fitsData = [&](const DataSizes &sizes) {
    return openTrainingData(options, sizes, options.seed) &&
           (!options.hasEvaluationData() || openEvaluationData(options, sizes));
  };
  if (!artifact.open(options, fitsData) || !report.read(artifact.metadata()) ||
      !useEpochs(options, artifact.get()))
    return 1;
  if (options.isArtifact())
    if (std::string problem =
            checkStartingPoint(options, frozenParts(options, &report));
        !problem.empty())
      return printError(problem);
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
  if (options.launch.rank == 0) {
    printFormatted("%s", training.header(report).c_str());
    noteNothingKept(options);
  }
  describeRate(options, report);
  training.printDevice();
  RunEnd end = training.run();
  training.printDevice();
  return end == RunEnd::Finished  ? 0
         : end == RunEnd::Stopped ? kStoppedExitCode
                                  : 1;
}
