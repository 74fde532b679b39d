//===- Training.cpp - one run of tessera train ----------------------------===//

#include "tools/tessera/train/Training.h"
#include "tessera/Options/Counted.h"
#include "tessera/Target/OwnFile.h"
#include "tessera/Text/Table.h"
#include "tools/tessera/input/ModelCheck.h"
#include "tools/tessera/input/ModelFiles.h"
#include "tools/tessera/output/Output.h"
#include "tools/tessera/output/PrintError.h"
#include "tools/tessera/train/ByteEntropy.h"
#include "tools/tessera/train/LossCurve.h"
#include "tools/tessera/train/RunHeader.h"
#include "tools/tessera/train/RunLength.h"
#include "tools/tessera/train/RunRecord.h"
#include "tools/tessera/train/StopSignals.h"
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

using namespace tessera;

static constexpr int kCurveWidth = 64, kCurveHeight = 12;

//===----------------------------------------------------------------------===//
// Preparing a run
//===----------------------------------------------------------------------===//

/// Returns the loss that byte frequencies alone predict, if the data is text.
double Training::measureBaseline() const {
  if (!isOfBytes(data.get()))
    return 0;
  std::vector<ByteSource> sources;
  for (size_t i = 0; i < options.data.size(); ++i) {
    ByteSource source = {options.data[i], 0, 0, 0};
    if (tsr_data_file(data.get(), i, &source.first, &source.count,
                      &source.share) == TSR_OK)
      sources.push_back(source);
  }
  return byteEntropy(sources);
}

bool Training::openData() {
  // A resumed run goes on with the checkpoint's order, whatever --seed says.
  data = openTrainingData(options, dataSizesOf(artifact),
                          tsr_session_seed(session.get()));
  if (!data)
    return false;
  baseline = measureBaseline();
  return true;
}

/// The session's checkpoints name the data, and those of other data are
/// refused.
bool Training::bindData() {
  if (!options.launch.isAlone() || (options.resumes && !options.changesData))
    printHashing(options, options.data);
  auto bind =
      options.changesData ? tsr_session_change_data : tsr_session_use_data;
  return bind(session.get(), data.get()) == TSR_OK ||
         !printError(tsr_last_error());
}

/// Earlier steps of a run may have had another batch.
int64_t Training::countSteps() const {
  if (options.epochs <= 0)
    return options.plan.learningRate.totalSteps;
  int64_t left = options.epochSequences - tsr_session_sequences(session.get());
  return firstStep + stepsOfSequences(left, tsr_artifact_batch(artifact));
}

bool Training::startParameters() {
  if (!options.weights.empty())
    if (llvm::Error error = checkConfigBeside(
            options, tsr_artifact_metadata(artifact), options.weights))
      return !printError(std::move(error));
  if (!options.launch.isAlone() && !options.weights.empty())
    printHashing(options, {options.weights});
  tsr_status status =
      options.resumes
          ? tsr_session_load(session.get(), options.resumeDir.c_str())
          : tsr_session_init(session.get());
  if (status == TSR_OK && !options.weights.empty())
    status = tsr_session_load_weights(session.get(), options.weights.c_str());
  if (status == TSR_OK)
    printNotes(options, session.get());
  if (status == TSR_OK && !options.adapter.empty())
    status = tsr_session_load_adapter(session.get(), options.adapter.c_str());
  firstStep = tsr_session_next_step(session.get());
  lastStep = countSteps();
  tsr_schedule schedule = {};
  schedule.size = sizeof schedule;
  const LearningRateOptions &rate = options.plan.learningRate;
  schedule.kind = nameOf(rate.schedule);
  schedule.lr = rate.largest;
  schedule.min_lr = rate.smallest;
  schedule.warmup_steps = rate.warmupSteps;
  schedule.total_steps = lastStep;
  schedule.decay_steps = rate.decaySteps;
  if (status == TSR_OK && (!options.givenRate.empty() || !options.isArtifact()))
    status = tsr_session_set_schedule(session.get(), &schedule);
  if (status != TSR_OK)
    return !printError(tsr_last_error());
  if (firstStep <= lastStep)
    return checkpoints.start();
  return !printError("the checkpoint is at step " + std::to_string(firstStep) +
                     ", but --steps is " + std::to_string(lastStep) +
                     "; raise --steps to at least that");
}

std::string Training::header(const Report &report) const {
  return runHeader({options, report, artifact, data.get(),
                    tsr_session_sequences(session.get()), firstStep, lastStep});
}

/// The sequences after those that the run has read, whatever its batch was.
bool Training::readBatch() {
  return tsr_data_read(data.get(), tsr_session_sequences(session.get()),
                       tsr_artifact_batch(artifact), batch.data()) == TSR_OK;
}

/// The CPU is in the headline already.
void Training::printDevice() {
  if (!isFirst() || !options.plan.device.target.isCuda())
    return;
  std::string text = tsr_session_device(session.get());
  if (text != device)
    printFormatted("%s\n", text.c_str());
  device = text;
}

bool Training::prepare() {
  LogMode mode = options.resumes ? LogMode::Append : LogMode::Replace;
  // With several processes the session comes first: ending it tells the others.
  session = openSession(options, artifact);
  if (!session)
    return false;
  // From here on another process might wait for this one.
  if (!options.launch.isAlone())
    enterStage(RunStage::Stepping);
  if (!checkpoints.claim(session.get()) || !startParameters() || !openData() ||
      !page.prepare(firstStep) ||
      !log.open(isFirst()
                    ? LogPaths{options.log, options.tensorboard, page.history()}
                    : LogPaths{},
                mode))
    return false;
  batch.resize(tsr_artifact_batch(artifact) * tsr_artifact_columns(artifact));
  if (!evaluations.prepare(session.get()) ||
      !samples.prepare(session.get(), artifact, isOfBytes(data.get())))
    return false;
  return bindData() && keepRun();
}

/// Tells the session what checkpoints hold beside their weights.
bool Training::keepRun() {
  if (!keepRecipe(options, tsr_artifact_metadata(artifact), session.get()))
    return false;
  std::string folder = isFirst() ? folderBesideWeights(options) : "";
  return folder.empty() ||
         tsr_session_set_model_folder(session.get(), folder.c_str()) ==
             TSR_OK ||
         !printError(tsr_last_error());
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// The first steps also fill caches and start threads.
static constexpr int64_t kStepsBeforeTrace = 2;

void Training::fetchBatch() {
  if (readBatch())
    return;
  printError("step " +
             std::to_string(tsr_session_next_step(session.get()) + 1) + ": " +
             tsr_last_error());
  stopping.fail();
}

/// Prints errors.
bool Training::startTrace() {
  if (std::error_code error = refusePlanted(options.trace))
    return !printError("cannot write '" + options.trace +
                       "': " + error.message());
  return tsr_session_trace(session.get(), options.trace.c_str()) == TSR_OK ||
         !printError(tsr_last_error());
}

bool Training::step(Progress &progress) {
  int64_t number = tsr_session_next_step(session.get());
  tsr_step_result result = {};
  bool isTraced =
      !options.trace.empty() && isFirst() &&
      number == std::min(firstStep + kStepsBeforeTrace, lastStep - 1);
  if (isTraced && !startTrace()) {
    stopping.fail(); // the others take the step, and so does this process
  }
  if (tsr_session_step(session.get(), batch.data(), batch.size(), &result) !=
      TSR_OK) {
    std::string message =
        "step " + std::to_string(number + 1) + ": " + tsr_last_error();
    progress.finishLine();
    // A step whose trace cannot be written is done all the same. Of several
    // processes the others may be somewhere else.
    bool isDone = tsr_session_next_step(session.get()) > number;
    isWhole = isDone || options.launch.isAlone();
    printError(message +
               (isWhole ? "" : " (" + checkpoints.whatIsSaved() + ")"));
    if (isDone)
      stopping.fail();
    return isDone;
  }
  progress.stepDone(result);
  if ((isTraced && !page.readTrace()) || !logStep(progress, result))
    stopping.fail(); // this process alone writes them
  return judge(progress, result);
}

bool Training::logStep(Progress &progress, const tsr_step_result &result) {
  if (!log.write({result, progress.speed(), progress.elapsed(),
                  tsr_session_skipped_steps(session.get()),
                  tsr_session_expert_rounds(session.get()),
                  options.resumes && result.step == firstStep}))
    return false;
  std::optional<LossSpikes::Spike> spike = spikes.add(result.loss);
  if (!spike || !isFirst())
    return true;
  char text[160];
  std::snprintf(text, sizeof text,
                "the loss leaps to %.4f: the last steps have mean %.4f and "
                "deviation %.4f",
                result.loss, spike->mean, spike->deviation);
  progress.finishLine();
  printNote("step " + std::to_string(result.step + 1) + ": " + text);
  return log.note(result.step + 1, text);
}

/// Without a label there is no loss, which is no sign of a bad run.
void Training::noteNoLabels(Progress &progress, const tsr_step_result &result) {
  if (!std::exchange(notesNoLabels, false) || !isFirst())
    return;
  progress.finishLine();
  printNote("step " + std::to_string(result.step + 1) +
            " has no label that counts, since its sequences are padding, "
            "special tokens or separators alone; it and others like it are "
            "skipped");
}

bool Training::judge(Progress &progress, const tsr_step_result &result) {
  if (!tsr_session_had_labels(session.get())) {
    noteNoLabels(progress, result);
    return true;
  }
  if (std::isfinite(result.loss) && std::isfinite(result.grad_norm)) {
    badInARow = 0;
    checkpoints.prove();
    return true;
  }
  ++badInARow;
  progress.finishLine();
  std::string what = "the loss is " + std::to_string(result.loss) +
                     " and the gradient norm " +
                     std::to_string(result.grad_norm) + " in step " +
                     std::to_string(result.step + 1) + ", which was skipped";
  if (badInARow <= options.maxBadSteps) {
    if (isFirst())
      printNote(what + " (" + std::to_string(badInARow) + " in a row, " +
                "--max-bad-steps " + std::to_string(options.maxBadSteps) + ")");
    return true;
  }
  isWhole = false;
  std::string others =
      badInARow == 1
          ? ""
          : ", as were the " + std::to_string(badInARow - 1) + " before";
  return !printError(what + others +
                     "; lower --lr, raise --warmup-steps or allow more with "
                     "--max-bad-steps (" +
                     checkpoints.whatIsSaved() + ")");
}

bool Training::save(Progress &progress) {
  using Saved = RunCheckpoints::Saved;
  Saved saved = checkpoints.save();
  if (saved == Saved::Done)
    return true;
  progress.finishLine();
  printError(checkpoints.problem());
  if (saved == Saved::Failed || isOver())
    return false;
  if (isFirst())
    printNote("the run goes on, and saves again when that is next due");
  return true;
}

bool Training::finish() {
  if (isFirst() && firstStep < lastStep)
    printFormatted(
        "the run is finished: the checkpoint is at step %lld of %lld, "
        "and %s; raise --early-stop or leave it out to train on\n",
        static_cast<long long>(firstStep), static_cast<long long>(lastStep),
        evaluations.whyHopeless().c_str());
  else if (isFirst())
    printFormatted(
        "the run is finished: the checkpoint is at step %lld of %lld; "
        "raise %s to train on\n",
        static_cast<long long>(firstStep), static_cast<long long>(lastStep),
        options.epochs > 0 ? "--epochs" : "--steps");
  return writePage("finished");
}

void Training::updatePage(Progress &progress) {
  if (!isFirst() || !page.isDue())
    return;
  double begin = progress.elapsed();
  progress.finishLine();
  page.update({"running", lastStep, baseline});
  progress.leaveOutSince(begin);
}

bool Training::writePage(const char *state) {
  return !isFirst() || page.write({state, lastStep, baseline});
}

/// Measures and samples what is due after the newest step.
bool Training::look(Progress &progress) {
  int64_t done = tsr_session_next_step(session.get());
  bool isLast = done >= lastStep;
  if ((isLast || evaluations.isDueAfter(done)) &&
      !evaluations.run(progress, log, stopping))
    return false;
  if (stopping.isAgreed() || !samples.isDueAfter(done))
    return true;
  return samples.run(progress);
}

/// Nothing that is due after a step may lose it, so it is saved first.
bool Training::round(Progress &progress) {
  if (!step(progress))
    return false;
  int64_t done = tsr_session_next_step(session.get());
  if (done < lastStep)
    fetchBatch();
  if (!stopping.agree(session.get()))
    return false;
  bool isDue = options.saveEvery && done % options.saveEvery == 0;
  if ((isDue || isOver()) && !save(progress))
    return false;
  // Saving took its time.
  if (isDue && !stopping.agree(session.get()))
    return false;
  if (!stopping.isAgreed() && !look(progress))
    return false;
  updatePage(progress);
  return true;
}

bool Training::isOver() const {
  return stopping.isAgreed() || evaluations.isHopeless() ||
         tsr_session_next_step(session.get()) >= lastStep;
}

RunEnd Training::end(Progress &progress, bool works) {
  int64_t done = tsr_session_next_step(session.get());
  // After an interrupted or a hopeless evaluation the step may not be saved.
  works = works && (done == firstStep || save(progress)) &&
          stopping.agree(session.get()) && !stopping.hasFailed();
  progress.finishLine();
  if (!works && isWhole)
    checkpoints.rescue();
  enterStage(RunStage::Ending);
  bool isStopped = stopping.isAgreed() && done < lastStep;
  if (works && isFirst())
    summarize(progress);
  works &= writePage(!works ? "failed" : isStopped ? "stopped" : "finished");
  return !works      ? RunEnd::Failed
         : isStopped ? RunEnd::Stopped
                     : RunEnd::Finished;
}

/// Open MPI gives a process a terminal of its own, and relays what is written
/// there, into files as well.
static Display displayOf(const Launch &launch) {
  if (launch.rank != 0)
    return Display::Hidden;
  return launch.launcher == "mpirun" ? Display::Lines : Display::Shown;
}

RunEnd Training::run() {
  enterStage(RunStage::Stepping);
  Progress progress(firstStep, lastStep,
                    {tokensPerStep(), flops, options.peakFlops},
                    displayOf(options.launch));
  fetchBatch();
  bool works = stopping.agree(session.get());
  // A run may have ended after it was saved and before it was measured.
  if (works && options.resumes && !stopping.isAgreed() &&
      evaluations.isMissingAt(firstStep))
    works = evaluations.run(progress, log, stopping);
  while (works && !isOver())
    works = round(progress);
  return end(progress, works);
}

/// The last tenth of the run: single steps are noisy.
static double finalLoss(const std::vector<double> &losses) {
  size_t count = std::max<size_t>(1, losses.size() / 10);
  return std::accumulate(losses.end() - static_cast<ptrdiff_t>(count),
                         losses.end(), 0.0) /
         static_cast<double>(count);
}

/// Returns the losses of the steps that were not skipped.
static std::vector<double> finiteOf(std::vector<double> losses) {
  losses.erase(std::remove_if(losses.begin(), losses.end(),
                              [](double loss) { return !std::isfinite(loss); }),
               losses.end());
  return losses;
}

/// Why a run ended before its last step, or that nothing of it is kept.
void Training::describeEnd() const {
  int64_t done = tsr_session_next_step(session.get());
  std::string step =
      "step " + std::to_string(done) + " of " + std::to_string(lastStep);
  if (evaluations.isHopeless())
    printFormatted(
        "stopped after %s: %lld evaluations in a row were no better\n",
        step.c_str(), static_cast<long long>(options.earlyStop));
  else if (stopping.isAgreed() && done < lastStep)
    printFormatted("stopped %s%s\n",
                   done == firstStep ? "before its first step"
                                     : ("after " + step).c_str(),
                   checkpoints.newest() >= 0 ? "; --resume continues" : "");
  else if (stopping.isAgreed() && options.hasEvaluationData())
    printFormatted("stopped before the last evaluation; all steps are done\n");
  if (options.checkpointDir.empty())
    printNote("nothing of this run is kept, because it has no "
              "--checkpoint-dir");
}

void Training::summarize(const Progress &progress) const {
  const std::vector<double> &losses = progress.losses();
  std::vector<double> finite = finiteOf(losses);
  if (finite.empty())
    return describeEnd();
  printFormatted("%s",
                 lossCurve({losses, firstStep, baseline, evaluations.points()},
                           kCurveWidth, kCurveHeight)
                     .c_str());
  Speed mean = progress.meanSpeed();
  printFormatted("loss %.4f -> %.4f in %s, %s; %.0f tokens/s%s\n",
                 finite.front(), finalLoss(finite),
                 counted(static_cast<int64_t>(losses.size()), "step").c_str(),
                 durationText(progress.elapsed()).c_str(), mean.tokens,
                 mean.shareText(", ").c_str());
  if (int64_t skipped = tsr_session_skipped_steps(session.get()))
    printFormatted(
        "skipped: %s without labels, or whose loss or gradient was not "
        "finite\n",
        counted(skipped, "step").c_str());
  if (baseline > 0)
    printFormatted("byte frequencies alone: %.4f\n", baseline);
  printFormatted("%s", evaluations.summary().c_str());
  if (checkpoints.newest() >= 0) {
    printFormatted("checkpoint: %s\n",
                   printable(checkpoints.newestPath()).c_str());
    printNotes(options, session.get());
  }
  describeEnd();
}
