//===- Training.cpp - one run of tessera train ----------------------------===//

#include "tools/tessera/train/Training.h"
#include "tessera/Options/Counted.h"
#include "tools/tessera/report/PrintError.h"
#include "tools/tessera/report/Table.h"
#include "tools/tessera/train/ByteEntropy.h"
#include "tools/tessera/train/LossCurve.h"
#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <numeric>

using namespace tessera;

static constexpr int kCurveWidth = 64, kCurveHeight = 12;

//===----------------------------------------------------------------------===//
// Preparing a run
//===----------------------------------------------------------------------===//

std::string tessera::findCheckpoint(const std::string &directory) {
  std::error_code error;
  std::string newest;
  for (const auto &entry :
       std::filesystem::directory_iterator(directory, error)) {
    std::string name = entry.path().filename().string();
    if (name.rfind("step-", 0) == 0 &&
        std::filesystem::exists(entry.path() / "manifest.json", error) &&
        std::pair(name.size(), name) > std::pair(newest.size(), newest))
      newest = name;
  }
  return newest;
}

/// What byte frequencies alone predict, if the data is text.
double Training::measureBaseline() const {
  if (tsr_data_token_bytes(data.get()) != 1 ||
      tsr_data_documents(data.get()) != 0)
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
  data = openTrainingData(options,
                          {tsr_artifact_sequence(artifact),
                           tsr_artifact_target(artifact),
                           tsr_artifact_vocabulary(artifact)},
                          tsr_session_seed(session.get()));
  if (!data)
    return false;
  baseline = measureBaseline();
  return true;
}

/// The session's checkpoints name the data, and those of other data are
/// refused.
bool Training::bindData() {
  auto bind =
      options.changesData ? tsr_session_change_data : tsr_session_use_data;
  return bind(session.get(), data.get()) == TSR_OK ||
         !printError(tsr_last_error());
}

/// A checkpoint of another run would be taken for a later one of this run.
bool Training::prepareDirectory() const {
  if (options.checkpointDir.empty())
    return true;
  if (tsr_session_claim(session.get(), options.checkpointDir.c_str()) != TSR_OK)
    return !printError(tsr_last_error());
  if (options.resumes || !isFirst())
    return true;
  std::string step = findCheckpoint(options.checkpointDir);
  if (step.empty())
    return true;
  return !printError("'" + options.checkpointDir +
                     "' holds a checkpoint of an earlier run (" + step +
                     "); continue it with --resume or name another directory");
}

bool Training::startParameters() {
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
  tsr_schedule schedule = {};
  schedule.size = sizeof schedule;
  const LearningRateOptions &rate = options.plan.learningRate;
  schedule.kind = nameOf(rate.schedule);
  schedule.lr = rate.largest;
  schedule.min_lr = rate.smallest;
  schedule.warmup_steps = rate.warmupSteps;
  schedule.total_steps = rate.totalSteps;
  schedule.decay_steps = rate.decaySteps;
  if (status == TSR_OK && (!options.givenRate.empty() || !options.isArtifact()))
    status = tsr_session_set_schedule(session.get(), &schedule);
  if (status != TSR_OK)
    return !printError(tsr_last_error());
  firstStep = tsr_session_next_step(session.get());
  lastStep = rate.totalSteps;
  if (options.resumes && options.resumeDir == options.checkpointDir)
    savedStep = firstStep;
  if (firstStep <= lastStep)
    return true;
  return !printError("the checkpoint is at step " + std::to_string(firstStep) +
                     ", but --steps is " + std::to_string(lastStep) +
                     "; raise --steps to at least that");
}

bool Training::agreeOnData() {
  if (options.launch.isAlone())
    return true;
  if (tsr_data_batch(data.get(), firstStep, tsr_artifact_batch(artifact),
                     batch.data()) != TSR_OK)
    return !printError(tsr_last_error());
  return agreeOnTokens(session.get(), data.get(), batch);
}

/// The CPU is in the headline already.
void Training::printDevice() {
  if (!isFirst() || !options.plan.device.target.isCuda())
    return;
  std::string text = tsr_session_device(session.get());
  if (text != device)
    std::printf("%s\n", text.c_str());
  device = text;
}

bool Training::prepare() {
  LogMode mode = options.resumes ? LogMode::Append : LogMode::Replace;
  // With several processes the session comes first: ending it tells the others.
  session = openSession(options, artifact);
  if (!session || !prepareDirectory() || !startParameters() || !openData() ||
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
  return agreeOnData() && bindData();
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

static volatile std::sig_atomic_t interrupted = 0;

/// The first signal ends the run after its step; a second one kills it.
static void onInterrupt(int signal) {
  interrupted = 1;
  std::signal(signal, SIG_DFL);
}

/// The first steps also fill caches and start threads.
static constexpr int64_t kStepsBeforeTrace = 2;

bool Training::step(Progress &progress) {
  int64_t number = tsr_session_next_step(session.get());
  tsr_step_result result = {};
  bool isTraced =
      !options.trace.empty() && isFirst() &&
      number == std::min(firstStep + kStepsBeforeTrace, lastStep - 1);
  if (isTraced &&
      tsr_session_trace(session.get(), options.trace.c_str()) != TSR_OK)
    return !printError(tsr_last_error());
  if (tsr_data_batch(data.get(), number, tsr_artifact_batch(artifact),
                     batch.data()) != TSR_OK ||
      tsr_session_step(session.get(), batch.data(), batch.size(), &result) !=
          TSR_OK) {
    std::string message = tsr_last_error();
    progress.finishLine();
    return !printError("step " + std::to_string(number + 1) + ": " + message);
  }
  progress.stepDone(result);
  if (isTraced && !page.readTrace())
    return false;
  return logStep(progress, result) && judge(progress, result);
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

/// A checkpoint whose next step was bad may hold what made it bad.
std::string Training::whatIsSaved() const {
  if (savedStep < 0)
    return "nothing was saved";
  auto text = [](int64_t step) { return std::to_string(step); };
  if (provenStep == savedStep)
    return "the last checkpoint is of step " + text(savedStep);
  std::string unproven = "the checkpoint of step " + text(savedStep) +
                         " was followed by bad steps only";
  return provenStep < 0 ? unproven
                        : "the last checkpoint that trained on is of step " +
                              text(provenStep) + "; " + unproven;
}

bool Training::judge(Progress &progress, const tsr_step_result &result) {
  if (std::isfinite(result.loss) && std::isfinite(result.grad_norm)) {
    badInARow = 0;
    provenStep = savedStep;
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
  std::string others =
      badInARow == 1
          ? ""
          : ", as were the " + std::to_string(badInARow - 1) + " before";
  return !printError(what + others +
                     "; lower --lr, raise --warmup-steps or allow more with "
                     "--max-bad-steps (" +
                     whatIsSaved() + ")");
}

bool Training::save(Progress &progress) {
  int64_t number = tsr_session_next_step(session.get());
  if (options.checkpointDir.empty() || savedStep == number)
    return true;
  if (tsr_session_save(session.get(), options.checkpointDir.c_str()) !=
      TSR_OK) {
    std::string message = tsr_last_error();
    progress.finishLine();
    return !printError(message);
  }
  savedStep = number;
  return prune(progress);
}

bool Training::prune(Progress &progress) {
  if (!options.keep ||
      tsr_session_prune(session.get(), options.checkpointDir.c_str(),
                        options.keep) == TSR_OK)
    return true;
  std::string message = tsr_last_error();
  progress.finishLine();
  return !printError("--keep: " + message + " (step " +
                     std::to_string(savedStep) + " is saved)");
}

/// All processes stop after the same step.
bool Training::agreeOnStopping() {
  int32_t any = interrupted;
  if (tsr_session_largest(session.get(), interrupted, &any) != TSR_OK)
    return !printError(tsr_last_error());
  stopping = any != 0;
  return true;
}

bool Training::finish() {
  if (isFirst())
    std::printf("the run is finished: the checkpoint is at step %lld of %lld; "
                "raise --steps to train on\n",
                static_cast<long long>(firstStep),
                static_cast<long long>(lastStep));
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

bool Training::run() {
  interrupted = 0;
  std::signal(SIGINT, onInterrupt);
  std::signal(SIGTERM, onInterrupt);
  Progress progress(firstStep, lastStep,
                    {tokensPerStep(), flops, options.peakFlops},
                    isFirst() ? Display::Shown : Display::Hidden);
  bool works = true;
  for (int64_t number = firstStep; works && number < lastStep && !stopping;
       ++number) {
    works = step(progress) && agreeOnStopping();
    if (works && evaluations.isDueAfter(number + 1))
      works = evaluations.run(progress, log);
    if (works && samples.isDueAfter(number + 1))
      works = samples.run(progress);
    stopping |= evaluations.isHopeless();
    bool due = options.saveEvery && (number + 1) % options.saveEvery == 0;
    if (works && due)
      works = save(progress);
    if (works)
      updatePage(progress);
  }
  works = works && evaluations.run(progress, log) && save(progress);
  progress.finishLine();
  if (works && isFirst())
    summarize(progress);
  works &= writePage(!works ? "failed" : stopping ? "stopped" : "finished");
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  return works;
}

/// The last tenth of the run: single steps are noisy.
static double finalLoss(const std::vector<double> &losses) {
  size_t count = std::max<size_t>(1, losses.size() / 10);
  return std::accumulate(losses.end() - static_cast<ptrdiff_t>(count),
                         losses.end(), 0.0) /
         static_cast<double>(count);
}

/// Of the steps that were not skipped.
static std::vector<double> finiteOf(std::vector<double> losses) {
  losses.erase(std::remove_if(losses.begin(), losses.end(),
                              [](double loss) { return !std::isfinite(loss); }),
               losses.end());
  return losses;
}

void Training::summarize(const Progress &progress) const {
  const std::vector<double> &losses = progress.losses();
  std::vector<double> finite = finiteOf(losses);
  if (finite.empty())
    return;
  std::printf("%s",
              lossCurve({losses, firstStep, baseline, evaluations.points()},
                        kCurveWidth, kCurveHeight)
                  .c_str());
  Speed mean = progress.meanSpeed();
  std::printf("loss %.4f -> %.4f in %s, %s; %.0f tokens/s%s\n", finite.front(),
              finalLoss(finite),
              counted(static_cast<int64_t>(losses.size()), "step").c_str(),
              durationText(progress.elapsed()).c_str(), mean.tokens,
              mean.shareText(", ").c_str());
  if (int64_t skipped = tsr_session_skipped_steps(session.get()))
    std::printf("skipped: %s whose loss or gradient was not finite\n",
                counted(skipped, "step").c_str());
  if (baseline > 0)
    std::printf("byte frequencies alone: %.4f\n", baseline);
  std::printf("%s", evaluations.summary().c_str());
  if (savedStep >= 0) {
    std::printf("checkpoint: %s/step-%08lld\n", options.checkpointDir.c_str(),
                static_cast<long long>(savedStep));
    printNotes(options, session.get());
  }
  if (evaluations.isHopeless())
    std::printf("stopped after step %lld of %lld: %lld evaluations in a row "
                "were no better\n",
                static_cast<long long>(tsr_session_next_step(session.get())),
                static_cast<long long>(lastStep),
                static_cast<long long>(options.earlyStop));
  else if (stopping)
    std::printf("stopped after step %lld of %lld%s\n",
                static_cast<long long>(tsr_session_next_step(session.get())),
                static_cast<long long>(lastStep),
                savedStep >= 0 ? "; --resume continues" : "");
}
