//===- Evaluations.h - evaluations during a run -----------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_TRAIN_EVALUATIONS_H
#define TESSERA_TOOLS_TESSERA_TRAIN_EVALUATIONS_H

#include "tools/tessera/train/LossCurve.h"
#include "tools/tessera/train/Measurement.h"
#include "tools/tessera/train/Progress.h"
#include "tools/tessera/train/StepLog.h"
#include "tools/tessera/train/Stopping.h"

namespace tessera {

/// Measures every --eval-every steps and after the last one, keeps the best
/// checkpoint and says when a run gets no better. All processes come to the
/// same. Checkpoints hold where it is, so that a run in parts does what a run
/// in one does. Every member prints its errors and returns false after one.
class Evaluations {
public:
  Evaluations(const DriverOptions &options, const tsr_artifact *artifact)
      : options(options), artifact(artifact) {}

  /// Opens the data; a resumed run knows its best checkpoint.
  bool prepare(tsr_session *session);
  /// Measures after the session's steps so far, unless it has. Nothing has
  /// happened if the processes agree to stop meanwhile.
  bool run(Progress &progress, StepLog &log, Stopping &stopping);
  /// Whether a run is to be measured after `steps` steps.
  bool isDueAfter(int64_t steps) const;
  /// Whether a run was saved at a step without the evaluation that was due.
  bool isMissingAt(int64_t step) const {
    return isDueAfter(step) && step > 0 && newest != step;
  }
  /// Whether there is no hope, by --early-stop.
  bool isHopeless() const;
  /// "3 evaluations in a row were no better", of a run without hope.
  std::string whyHopeless() const;

  const std::vector<LossPoint> &points() const { return measured; }
  /// What there is to say at the end, in lines.
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

  const DriverOptions &options;
  const tsr_artifact *artifact;
  tsr_session *session = nullptr;
  EvaluationData data;
  Measurement last;
  std::vector<LossPoint> measured;
  LossPoint best;      ///< Of what is in best/; step 0: none yet.
  LossPoint reference; ///< Of those every --eval-every steps; step 0: none yet.
  int64_t worse = 0;   ///< Of these, how many came since.
  int64_t newest = 0;  ///< The step of the last of these.
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TRAIN_EVALUATIONS_H
