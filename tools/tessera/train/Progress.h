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

enum class Display { Shown, Hidden };

class Progress {
public:
  /// Steps `first` to `last` - 1 are to come, each of `tokens` tokens.
  Progress(int64_t first, int64_t last, int64_t tokens, Display display);

  void stepDone(const tsr_step_result &result);
  /// Ends the rewritten line, before anything else is printed.
  void finishLine();
  /// Seconds since the start.
  double elapsed() const;
  /// What was done since then is no part of a step.
  void leaveOutSince(double elapsedThen);
  /// Seconds of the steps.
  double training() const { return elapsed() - leftOut; }
  /// Over the last steps; 0 before the first.
  double tokensPerSecond() const;
  const std::vector<double> &losses() const { return history; }

private:
  using Clock = std::chrono::steady_clock;
  std::string line(const tsr_step_result &result) const;

  int64_t first, last, tokens, every;
  Display display;
  bool terminal, open = false;
  Clock::time_point start, previous, shown;
  double secondsPerStep = 0, leftOut = 0;
  std::vector<double> history;
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TRAIN_PROGRESS_H
