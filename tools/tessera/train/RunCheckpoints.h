//===- RunCheckpoints.h - what a run keeps ----------------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_TRAIN_RUNCHECKPOINTS_H
#define TESSERA_TOOLS_TESSERA_TRAIN_RUNCHECKPOINTS_H

#include "tessera/tessera.h"
#include "tools/tessera/train/TrainOptions.h"
#include <string>

namespace tessera {

/// The name of the newest checkpoint in a directory, or "".
std::string findCheckpoint(const std::string &directory);

/// The name of the checkpoint of a step.
std::string nameOfStep(int64_t step);

/// The checkpoints of --checkpoint-dir. Members print their errors, except
/// `save`.
class RunCheckpoints {
public:
  /// The result of a save, which is the same in all processes.
  enum class Saved {
    Done,    ///< It is saved, or there was nothing to do.
    Missing, ///< It could not be written, and may be tried again: problem().
    Failed   ///< The run cannot go on: problem().
  };

  explicit RunCheckpoints(const TrainOptions &options) : options(options) {}

  /// Claims the directory for the session, which is new or resumed. A
  /// checkpoint of another run would be taken for a later one of this run.
  bool claim(tsr_session *session);
  /// Call it once the session has its parameters: finds what is saved of its
  /// step, and applies --keep to what earlier runs left.
  bool start();
  /// Saves the session's steps so far, unless they are saved or nothing is to
  /// be kept.
  Saved save();
  const std::string &problem() const { return why; }
  /// Saves what a failed run has trained, if that is possible and was not
  /// tried, and says what is saved.
  void rescue();

  /// Notes that a step after the newest checkpoint was good.
  void prove() { provenStep = savedStep; }
  /// Returns the step of the newest checkpoint, or -1.
  int64_t newest() const { return savedStep; }
  /// Returns its path, or "".
  std::string newestPath() const;
  /// Says what is left of a run that fails. A checkpoint whose next step was
  /// bad may hold what made it bad.
  std::string whatIsSaved() const;

private:
  bool isFirst() const { return options.launch.rank == 0; }
  bool isWanted() const { return !options.checkpointDir.empty(); }
  /// Removes what --keep does not keep, or says why in problem().
  bool prune();

  const TrainOptions &options;
  tsr_session *session = nullptr;
  std::string why;
  int64_t firstStep = 0, savedStep = -1, triedStep = -1;
  int64_t provenStep = -1; ///< The newest saved one that trained on.
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TRAIN_RUNCHECKPOINTS_H
