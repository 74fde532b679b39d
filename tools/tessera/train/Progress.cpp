//===- Progress.cpp - what a run shows while it runs ----------------------===//

#include "tools/tessera/train/Progress.h"
#include "tessera/Text/Table.h"
#include "tools/tessera/output/Output.h"
#include <algorithm>
#include <cstdio>
#include <unistd.h>

using namespace tessera;

static constexpr int64_t kPlainLines = 20;
/// Weight of the newest step in the mean time of a step.
static constexpr double kNewest = 0.1;

std::string Speed::shareText(const char *before) const {
  char text[64] = "";
  if (share > 0)
    std::snprintf(text, sizeof text, "%s%4.1f %% of the peak", before,
                  100 * share);
  return text;
}

Progress::Progress(int64_t first, int64_t last, const StepWork &work,
                   Display display)
    : first(first), last(last),
      every(std::max<int64_t>(1, (last - first) / kPlainLines)), work(work),
      display(display),
      terminal(display == Display::Shown && isatty(STDOUT_FILENO)),
      start(Clock::now()), previous(start) {}

double Progress::elapsed() const {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void Progress::leaveOutSince(double elapsedThen) {
  leftOut += elapsed() - elapsedThen;
  previous = Clock::now();
}

Speed Progress::speedAt(double secondsOfStep) const {
  if (secondsOfStep <= 0)
    return {};
  return {static_cast<double>(work.tokens) / secondsOfStep,
          work.peak > 0 ? work.flops / secondsOfStep / work.peak : 0};
}

Speed Progress::meanSpeed() const {
  return speedAt((elapsed() - leftOut) / static_cast<double>(history.size()));
}

std::string Progress::line(const tsr_step_result &result) const {
  double left = secondsPerStep * static_cast<double>(last - result.step - 1);
  Speed now = speed();
  char text[200];
  std::snprintf(text, sizeof text,
                "step %*lld/%lld  loss %7.4f  grad norm %8.4f  %6.0f tokens/s"
                "%s  %s left",
                static_cast<int>(std::to_string(last).size()),
                static_cast<long long>(result.step + 1),
                static_cast<long long>(last), result.loss, result.grad_norm,
                now.tokens, now.shareText("  ").c_str(),
                durationText(left).c_str());
  return text;
}

void Progress::stepDone(const tsr_step_result &result) {
  Clock::time_point now = Clock::now();
  double seconds = std::chrono::duration<double>(now - previous).count();
  previous = now;
  // The first step also warms caches up; it says little about the others.
  secondsPerStep = history.size() < 2
                       ? seconds
                       : (1 - kNewest) * secondsPerStep + kNewest * seconds;
  history.push_back(result.loss);
  if (display == Display::Hidden)
    return;
  bool isLast = result.step + 1 == last;
  if (terminal) {
    if (!isLast && now - shown < std::chrono::milliseconds(100))
      return;
    shown = now;
    printOverLine(line(result));
    open = true;
  } else if (isLast || (result.step - first) % every == 0) {
    printFormatted("%s\n", line(result).c_str());
  }
  flushOutput();
}

void Progress::finishLine() {
  if (open)
    printFormatted("\n");
  open = false;
}
