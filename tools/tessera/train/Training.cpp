//===- Training.cpp - the loop of tessera train ---------------------------===//

#include "tools/tessera/train/Training.h"
#include "tools/tessera/report/PrintError.h"
#include "tools/tessera/report/Table.h"
#include <cmath>
#include <csignal>
#include <numeric>

using namespace tessera;

static constexpr int kCurveWidth = 64, kCurveHeight = 12;

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
    return !printError("step " + std::to_string(number) + ": " + message);
  }
  progress.stepDone(result);
  if (!log.write(result, progress.tokensPerSecond(), progress.elapsed()))
    return false;
  if (std::isfinite(result.loss) && std::isfinite(result.grad_norm))
    return true;
  progress.finishLine();
  std::string saved = savedStep < 0 ? "nothing was saved"
                                    : "the last checkpoint is of step " +
                                          std::to_string(savedStep);
  return !printError(
      "the loss is " + std::to_string(result.loss) + " and the gradient norm " +
      std::to_string(result.grad_norm) + " in step " + std::to_string(number) +
      "; lower --lr or raise --warmup-steps (" + saved + ")");
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
  return true;
}

/// All processes stop after the same step.
bool Training::agreeOnStopping() {
  int32_t any = interrupted;
  if (tsr_session_largest(session.get(), interrupted, &any) != TSR_OK)
    return !printError(tsr_last_error());
  stopping = any != 0;
  return true;
}

bool Training::run() {
  interrupted = 0;
  std::signal(SIGINT, onInterrupt);
  std::signal(SIGTERM, onInterrupt);
  Progress progress(firstStep, lastStep, tokensPerStep(),
                    isFirst() ? Display::Shown : Display::Hidden);
  bool works = true;
  for (int64_t number = firstStep; works && number < lastStep && !stopping;
       ++number) {
    works = step(progress) && agreeOnStopping();
    bool due = options.saveEvery && (number + 1) % options.saveEvery == 0;
    if (works && due)
      works = save(progress);
  }
  works = works && save(progress);
  progress.finishLine();
  if (works && isFirst())
    summarize(progress);
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

void Training::summarize(const Progress &progress) const {
  const std::vector<double> &losses = progress.losses();
  if (losses.empty())
    return;
  std::printf("%s",
              lossCurve(losses, firstStep, baseline, kCurveWidth, kCurveHeight)
                  .c_str());
  std::printf("loss %.4f -> %.4f in %zu steps, %s; %.0f tokens/s\n",
              losses.front(), finalLoss(losses), losses.size(),
              durationText(progress.elapsed()).c_str(),
              static_cast<double>(losses.size()) *
                  static_cast<double>(tokensPerStep()) / progress.elapsed());
  if (baseline > 0)
    std::printf("byte frequencies alone: %.4f\n", baseline);
  if (savedStep >= 0)
    std::printf("checkpoint: %s/step-%08lld\n", options.checkpointDir.c_str(),
                static_cast<long long>(savedStep));
  if (stopping)
    std::printf("stopped after step %lld of %lld%s\n",
                static_cast<long long>(tsr_session_next_step(session.get())),
                static_cast<long long>(lastStep),
                savedStep >= 0 ? "; --resume continues" : "");
}
