//===- TrainingPage.h - the page of a run -----------------------*- C++ -*-===//
// The page of train's --html (docs/Page.md): the lines of the log, what the
// artifact says of itself, and a traced step beside the simulated one.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_TRAIN_TRAININGPAGE_H
#define TESSERA_TOOLS_TESSERA_TRAIN_TRAININGPAGE_H

#include "tessera/Predict/SimulatedStep.h"
#include "tessera/Report/Report.h"
#include "tools/tessera/train/StepHistory.h"
#include "tools/tessera/train/TrainOptions.h"
#include <chrono>
#include <optional>

namespace tessera {

class TrainingPage {
public:
  /// The progress of a run.
  struct State {
    const char *name; ///< "running", "finished", "stopped", "failed".
    int64_t lastStep;
    double baseline; ///< Loss of byte frequencies; 0: the data is no text.
  };

  TrainingPage(const TrainOptions &options, const Report &report,
               llvm::StringRef metadata)
      : options(options), report(report), metadata(metadata) {}

  // Without --html these do nothing. Errors are printed, and false returned.

  /// Predicts the step on the cluster, if one is given.
  bool simulate();
  /// Reads the log that a resumed run writes on, up to its checkpoint.
  bool prepare(int64_t firstStep);
  /// Returns the history that takes the log's lines; null without a page.
  StepHistory *history() { return isWanted() ? &steps : nullptr; }
  /// The traced step is over.
  bool readTrace();
  /// Returns whether the page is old. Writing it takes at most a hundredth of
  /// the time.
  bool isDue() const { return isWanted() && Clock::now() >= due; }
  /// Writes the page. That it cannot be written is said once and ends no run.
  void update(const State &state);
  bool write(const State &state);

private:
  using Clock = std::chrono::steady_clock;
  bool isWanted() const {
    return !options.html.empty() && options.launch.rank == 0;
  }
  llvm::json::Object json(const State &state) const;
  std::error_code put(const State &state) const;

  const TrainOptions &options;
  const Report &report;
  llvm::StringRef metadata;
  StepHistory steps;
  std::optional<SimulatedStep> simulated;
  std::optional<llvm::json::Object> step; ///< Traced, and simulated.
  Clock::time_point due;
  bool hasFailed = false;
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TRAIN_TRAININGPAGE_H
