//===- Training.h - one run of tessera train --------------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_TRAIN_TRAINING_H
#define TESSERA_TOOLS_TESSERA_TRAIN_TRAINING_H

#include "tools/tessera/options/DriverOptions.h"
#include "tools/tessera/train/Evaluations.h"
#include "tools/tessera/train/LossSpikes.h"
#include "tools/tessera/train/OpenSession.h"
#include "tools/tessera/train/Progress.h"
#include "tools/tessera/train/Samples.h"
#include "tools/tessera/train/StepLog.h"
#include "tools/tessera/train/TrainingPage.h"
#include <memory>

namespace tessera {

/// The name of a checkpoint in a directory, or "".
std::string findCheckpoint(const std::string &directory);

/// Every member prints its errors and returns false after one.
class Training {
public:
  /// `flops` of the model in one step, over all ranks.
  Training(const DriverOptions &options, const tsr_artifact *artifact,
           double flops, TrainingPage &page)
      : options(options), artifact(artifact), flops(flops), page(page) {}

  /// Opens data, log and session; draws, loads or restores the parameters.
  bool prepare();
  /// Whether a resumed run has no step left.
  bool isFinished() const { return firstStep >= lastStep; }
  /// What such a run has to say.
  bool finish();
  /// What an accelerator is and how it is used, if that is news.
  void printDevice();
  /// Steps until the end or an interrupt; saves, plots.
  bool run();

private:
  /// Whether this process prints, logs and makes the directory.
  bool isFirst() const { return options.launch.rank == 0; }
  bool agreeOnStopping();
  bool agreeOnData();
  bool openData();
  bool bindData();
  double measureBaseline() const;
  bool startParameters();
  bool prepareDirectory() const;
  bool step(Progress &progress);
  bool logStep(Progress &progress, const tsr_step_result &result);
  /// Whether the run goes on after a step that may have been skipped.
  bool judge(Progress &progress, const tsr_step_result &result);
  std::string whatIsSaved() const;
  bool save(Progress &progress);
  /// What --keep does not keep.
  bool prune(Progress &progress);
  void summarize(const Progress &progress) const;
  void updatePage(Progress &progress);
  bool writePage(const char *state);
  int64_t tokensPerStep() const {
    return tsr_artifact_batch(artifact) *
           (tsr_artifact_sequence(artifact) + tsr_artifact_target(artifact));
  }

  const DriverOptions &options;
  const tsr_artifact *artifact;
  const double flops;
  TrainingPage &page;
  std::string device; ///< What was printed of it.
  OpenedSession session;
  OpenedData data;
  StepLog log;
  Evaluations evaluations{options, artifact};
  Samples samples{options};
  std::vector<int32_t> batch;
  LossSpikes spikes;
  int64_t firstStep = 0, lastStep = 0, savedStep = -1;
  int64_t provenStep = -1; ///< The newest saved one that trained on.
  int64_t badInARow = 0;
  bool stopping = false; ///< A process was interrupted.
  double baseline = 0;   ///< Loss of byte frequencies; 0: the data is no text.
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TRAIN_TRAINING_H
