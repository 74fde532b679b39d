//===- Progress.h - what a run shows while it runs --------------*- C++ -*-===//
// One line that is rewritten on a terminal; about twenty plain lines elsewhere.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_TRAIN_PROGRESS_H
#define TESSERA_TOOLS_TESSERA_TRAIN_PROGRESS_H

#include "tessera/tessera.h"
#include <chrono>
#include <string>
#include <vector>

namespace tessera {

/// Lines: not rewritten, even on a terminal.
enum class Display { Shown, Lines, Hidden };

/// The work of one step.
struct StepWork {
  int64_t tokens = 0;
  double flops = 0; ///< Flops of the model, over all ranks.
  double peak = 0;  ///< Flops per second of all devices; 0: not known.
};

struct Speed {
  double tokens = 0; ///< Per second.
  /// Share of the peak (MFU of Chowdhery et al. 2022); 0: unknown.
  double share = 0;

  /// "61.9 % of the peak" after `before`, or "".
  std::string shareText(const char *before) const;
};

class Progress {
public:
  /// Steps `first` to `last` - 1 are to come.
  Progress(int64_t first, int64_t last, const StepWork &work, Display display);

  void stepDone(const tsr_step_result &result);
  /// Ends the rewritten line, before anything else is printed.
  void finishLine();
  /// Seconds since the start.
  double elapsed() const;
  /// Leaves out the time since then, which is no part of a step.
  void leaveOutSince(double elapsedThen);
  /// Over the last steps; 0 before the first.
  Speed speed() const { return speedAt(secondsPerStep); }
  /// Returns the mean over all steps.
  Speed meanSpeed() const;
  const std::vector<double> &losses() const { return history; }

private:
  using Clock = std::chrono::steady_clock;
  std::string line(const tsr_step_result &result) const;
  Speed speedAt(double secondsOfStep) const;

  int64_t first, last, every;
  StepWork work;
  Display display;
  bool terminal, open = false;
  Clock::time_point start, previous, shown;
  double secondsPerStep = 0, leftOut = 0;
  std::vector<double> history;
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TRAIN_PROGRESS_H
