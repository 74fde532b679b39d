//===- Training.h - one run of tessera train --------------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_TRAIN_TRAINING_H
#define TESSERA_TOOLS_TESSERA_TRAIN_TRAINING_H

#include "tessera/Report/Report.h"
#include "tools/tessera/train/Evaluations.h"
#include "tools/tessera/train/LossSpikes.h"
#include "tools/tessera/train/OpenSession.h"
#include "tools/tessera/train/Progress.h"
#include "tools/tessera/train/RunCheckpoints.h"
#include "tools/tessera/train/Samples.h"
#include "tools/tessera/train/StepLog.h"
#include "tools/tessera/train/Stopping.h"
#include "tools/tessera/train/TrainOptions.h"
#include "tools/tessera/train/TrainingPage.h"
#include <memory>

namespace tessera {

/// The ways in which a run ends.
enum class RunEnd { Finished, Stopped, Failed };

/// Every member prints its errors and returns false after one.
class Training {
public:
  /// `flops` of the model in one step, over all ranks.
  Training(const TrainOptions &options, const tsr_artifact *artifact,
           double flops, TrainingPage &page)
      : options(options), artifact(artifact), flops(flops), page(page) {}

  /// Opens data, log and session; draws, loads or restores the parameters.
  bool prepare();
  /// Returns whether a resumed run has no step left, or --early-stop ends it.
  bool isFinished() const {
    return firstStep >= lastStep || evaluations.isHopeless();
  }
  /// Prints that such a run is finished.
  bool finish();
  /// Describes the accelerator and how it is used, if that is news.
  void printDevice();
  /// Describes the run in lines, before its first step.
  std::string header(const Report &report) const;
  /// Steps until the end or until a process is told to stop; saves, plots.
  RunEnd run();

private:
  /// Returns whether this process prints, logs and makes the directory.
  bool isFirst() const { return options.launch.rank == 0; }
  bool readBatch();
  /// Reads the next step's batch, before the processes agree to go on.
  void fetchBatch();
  bool keepRun();
  bool openData();
  bool bindData();
  double measureBaseline() const;
  bool startParameters();
  int64_t countSteps() const; ///< The whole run has so many.
  /// Runs a step, and what is due after it.
  bool round(Progress &progress);
  bool startTrace();
  bool step(Progress &progress);
  bool logStep(Progress &progress, const tsr_step_result &result);
  void noteNoLabels(Progress &progress, const tsr_step_result &result);
  /// Returns whether the run goes on after a step that may have been skipped.
  bool judge(Progress &progress, const tsr_step_result &result);
  /// Returns whether the run goes on. Before its last step it goes on even if a
  /// checkpoint cannot be written now.
  bool save(Progress &progress);
  bool look(Progress &progress);
  bool isOver() const;
  RunEnd end(Progress &progress, bool works);
  void describeEnd() const;
  void summarize(const Progress &progress) const;
  void updatePage(Progress &progress);
  bool writePage(const char *state);
  int64_t tokensPerStep() const {
    return tsr_artifact_batch(artifact) *
           (tsr_artifact_sequence(artifact) + tsr_artifact_target(artifact));
  }

  const TrainOptions &options;
  const tsr_artifact *artifact;
  const double flops;
  TrainingPage &page;
  std::string device; ///< The description of it that was printed.
  OpenedSession session;
  OpenedData data;
  StepLog log;
  Evaluations evaluations{options, artifact};
  Samples samples{options};
  std::vector<int32_t> batch;
  LossSpikes spikes;
  RunCheckpoints checkpoints{options};
  Stopping stopping{isFirst()};
  int64_t firstStep = 0, lastStep = 0;
  bool notesNoLabels = true; ///< The first step without labels is noted.
  int64_t badInARow = 0;
  bool isWhole = true; ///< The newest step was done, and is no bad one.
  double baseline = 0; ///< Loss of byte frequencies; 0: the data is no text.
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TRAIN_TRAINING_H
