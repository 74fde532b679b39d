//===- Evaluations.h - evaluations during a run -----------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_TRAIN_EVALUATIONS_H
#define TESSERA_TOOLS_TESSERA_TRAIN_EVALUATIONS_H

#include "tools/tessera/train/LossCurve.h"
#include "tools/tessera/train/Measurement.h"
#include "tools/tessera/train/Progress.h"
#include "tools/tessera/train/StepLog.h"
#include "tools/tessera/train/Stopping.h"
#include "tools/tessera/train/TrainOptions.h"

namespace tessera {

/// Measures every --eval-every steps and after the last one, keeps the best
/// checkpoint and says when a run gets no better, with the same result in all
/// processes. Checkpoints hold its state, so that a run in parts does what a
/// run in one part does. Every member prints its errors and returns false after
/// one.
class Evaluations {
public:
  Evaluations(const TrainOptions &options, const tsr_artifact *artifact)
      : options(options), artifact(artifact) {}

  /// Opens the data; a resumed run knows its best checkpoint.
  bool prepare(tsr_session *session);
  /// Measures after the session's steps so far, unless that is done. Does
  /// nothing else if the processes agree to stop meanwhile.
  bool run(Progress &progress, StepLog &log, Stopping &stopping);
  /// Returns whether a run is to be measured after `steps` steps.
  bool isDueAfter(int64_t steps) const;
  /// Returns whether a run was saved at a step before the evaluation that was
  /// due there.
  bool isMissingAt(int64_t step) const {
    return isDueAfter(step) && step > 0 && newest != step;
  }
  /// Returns whether --early-stop ends the run.
  bool isHopeless() const;
  /// Returns "3 evaluations in a row were no better than ..." for such a run.
  std::string whyHopeless() const;

  const std::vector<LossPoint> &points() const { return measured; }
  /// Returns a summary for the end, in lines.
  std::string summary() const;

private:
  bool isFirst() const { return options.launch.rank == 0; }
  bool isWanted() const { return options.hasEvaluationData(); }
  std::string bestDirectory() const { return options.checkpointDir + "/best"; }
  bool keepBest(const LossPoint &before);
  void readBest();
  LossPoint olderBest() const;
  void readState();
  bool keepState();
  void compare();

  const TrainOptions &options;
  const tsr_artifact *artifact;
  tsr_session *session = nullptr;
  EvaluationData data;
  Measurement last;
  std::vector<LossPoint> measured;
  LossPoint best;      ///< The one in best/; step 0: none yet.
  LossPoint reference; ///< The best every --eval-every steps; likewise.
  int64_t worse = 0;   ///< Evaluations since then, which were no better.
  int64_t newest = 0;  ///< The step of the last of these.
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TRAIN_EVALUATIONS_H
