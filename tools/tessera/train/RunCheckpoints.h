//===- RunCheckpoints.h - what a run keeps ----------------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_TRAIN_RUNCHECKPOINTS_H
#define TESSERA_TOOLS_TESSERA_TRAIN_RUNCHECKPOINTS_H

#include "tessera/tessera.h"
#include "tools/tessera/options/DriverOptions.h"
#include <string>

namespace tessera {

/// The name of the newest checkpoint in a directory, or "".
std::string findCheckpoint(const std::string &directory);

/// The checkpoints of --checkpoint-dir. Errors are printed, but for those of a
/// save.
class RunCheckpoints {
public:
  /// What came of a save. All processes come to the same.
  enum class Saved {
    Done,    ///< Or there was nothing to do.
    Missing, ///< It could not be written, and may be tried again: problem().
    Failed   ///< The run cannot go on: problem().
  };

  explicit RunCheckpoints(const DriverOptions &options) : options(options) {}

  /// Claims the directory for the session, which is new or resumed. A
  /// checkpoint of another run would be taken for a later one of this run.
  bool claim(tsr_session *session);
  /// The session has its parameters: what was saved of its step is known, and
  /// --keep holds for what earlier runs left.
  bool start();
  /// Saves after the session's steps so far, unless that is done, or nothing is
  /// to be kept.
  Saved save();
  const std::string &problem() const { return why; }
  /// Saves what a run that has failed has trained, where that can be done and
  /// was not tried, and says so.
  void rescue();

  /// A step after the newest checkpoint was good.
  void prove() { provenStep = savedStep; }
  /// Of the newest checkpoint; -1: none.
  int64_t newest() const { return savedStep; }
  /// Its path, or "".
  std::string newestPath() const;
  /// What is left of a run that fails. A checkpoint whose next step was bad may
  /// hold what made it bad.
  std::string whatIsSaved() const;

private:
  bool isFirst() const { return options.launch.rank == 0; }
  bool isWanted() const { return !options.checkpointDir.empty(); }
  /// Removes what --keep does not keep, or says why in problem().
  bool prune();

  const DriverOptions &options;
  tsr_session *session = nullptr;
  std::string why;
  int64_t firstStep = 0, savedStep = -1, triedStep = -1;
  int64_t provenStep = -1; ///< The newest saved one that trained on.
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TRAIN_RUNCHECKPOINTS_H
