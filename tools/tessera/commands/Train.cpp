//===- Train.cpp - tessera train ------------------------------------------===//

#include "tessera/Artifact/DeviceReport.h"
#include "tessera/Report/Report.h"
#include "tools/tessera/input/ModelFiles.h"
#include "tools/tessera/input/OpenModel.h"
#include "tools/tessera/input/SharedFiles.h"
#include "tools/tessera/options/Command.h"
#include "tools/tessera/options/ExitStatus.h"
#include "tools/tessera/options/FileChecks.h"
#include "tools/tessera/output/Output.h"
#include "tools/tessera/output/PrintError.h"
#include "tools/tessera/train/RunLength.h"
#include "tools/tessera/train/RunRecord.h"
#include "tools/tessera/train/StartingPoint.h"
#include "tools/tessera/train/StopSignals.h"
#include "tools/tessera/train/TrainDeclaration.h"
#include "tools/tessera/train/Training.h"
#include "tools/tessera/train/TrainingPage.h"
#include "llvm/Support/FormatVariadic.h"

using namespace tessera;

/// The first start of a command that is repeated finds no checkpoint; later
/// ones need the weights no more with which it began.
static void resumeIfAny(TrainOptions &options) {
  if (!options.resumesIfAny || findCheckpoint(options.checkpointDir).empty())
    return;
  options.resumes = true;
  options.resumeDir = options.checkpointDir;
  options.weights.clear();
  options.adapter.clear();
}

/// Completes what is given of the learning rate. Returns what is wrong, or "".
static std::string useCompiledRate(TrainOptions &options,
                                   const Report &report) {
  LearningRateOptions &rate = options.plan.learningRate;
  if (options.isArtifact())
    return mergeRate(report.learningRate(), rate, options.givenRate);
  return options.epochs > 0 ? completeRate(rate, options.givenRate) : "";
}

/// Returns which parameters stay as they are, in what is compiled now or in the
/// artifact that `report` describes.
static Frozen frozenParts(const TrainOptions &options, const Report *report) {
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

static void noteNothingKept(const TrainOptions &options) {
  if (options.checkpointDir.empty())
    printNote("nothing of this run will be kept, because it has no "
              "--checkpoint-dir");
}

static void describeRate(const TrainOptions &options, const Report &report) {
  if (options.launch.rank != 0)
    return;
  if (options.isArtifact())
    printRateChanges(report.learningRate(), options.plan.learningRate);
  noteWarmup(options.plan.learningRate);
}

namespace {

class Train : public Command {
public:
  void declare(CLI::App &app) override { declaration.declare(app); }
  void check(CLI::App &app) override { declaration.check(app, readRecipe); }
  int run() override;

private:
  std::string checkNamedFiles();
  std::string prepare();
  bool open(ArtifactFile &artifact, Report &report);

  TrainOptions options;
  TrainDeclaration declaration{options};
};

const CommandRegistration<Train>
    registration({130, "train", "Train a model",
                  " examples/gpt2-tiny --mesh dp=2,tp=2 --data README.md"});

} // namespace

std::string Train::checkNamedFiles() {
  const char *steps = "name the --checkpoint-dir of the run that is to go on";
  return firstOf(
      {checkRunFiles(options),
       options.resumes
           ? checkReadDirectory("--resume", options.resumeDir, steps)
           : "",
       checkDirectory("--checkpoint-dir", options.checkpointDir),
       checkDirectory("--tensorboard", options.tensorboard),
       options.cluster.empty()
           ? ""
           : checkInput("--cluster", options.cluster,
                        "name a file that tessera calibrate wrote, or one of "
                        "clusters"),
       checkOutput(options.log, "steps.jsonl"),
       checkOutput(options.trace, "step.json")});
}

/// Returns what is wrong before anything is compiled, or "".
std::string Train::prepare() {
  if (std::string problem =
          firstOf({findModel(options, ModelKinds::SourcesAndArtifacts),
                   checkOutput(options.html, "page.html"),
                   deviceProblem(options.plan)});
      !problem.empty())
    return problem;
  handleStopSignals(options.launch.rank == 0);
  if (!options.launch.isAlone())
    setErrorRank(options.launch.rank);
  if (std::string problem =
          firstOf({limitRanks(options), prepareProcess(options)});
      !problem.empty())
    return problem;
  resumeIfAny(options);
  shareFiles(options);
  if (std::string problem = checkNamedFiles(); !problem.empty())
    return problem;
  return options.isArtifact()
             ? ""
             : checkStartingPoint(options, frozenParts(options, nullptr));
}

/// Compiles or loads the program and completes what depends on it. Returns
/// false after an error, which is printed.
bool Train::open(ArtifactFile &artifact, Report &report) {
  auto fitsData = [&](const DataSizes &sizes) {
    return mlir::success(
        openTrainingData(options, sizes, options.seed) &&
        (!options.hasEvaluationData() || openEvaluationData(options, sizes)));
  };
  if (!openArtifact(options, artifact, report, fitsData) ||
      !useEpochs(options, artifact.get()))
    return false;
  if (options.isArtifact())
    if (std::string problem =
            checkStartingPoint(options, frozenParts(options, &report));
        !problem.empty())
      return !printError(problem);
  if (std::string problem = useCompiledRate(options, report); !problem.empty())
    return !printError(problem);
  // A process that was started without the option would trust anybody.
  options.shared.emplace_back(
      "--trusted-key", options.trustedKeys.empty() ? "" : artifact.signer());
  // The checkpoint that is found counts, and not how it was asked for.
  options.shared.emplace_back("--resume", options.resumeDir);
  return true;
}

int Train::run() {
  if (std::string problem = prepare(); !problem.empty())
    return printError(problem);
  ArtifactFile artifact;
  Report report;
  if (!agreeOnProcessor(options) || !open(artifact, report))
    return 1;
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
