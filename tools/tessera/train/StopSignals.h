//===- StopSignals.h - what tells a process to stop its run -----*- C++ -*-===//
// Signals of a user, a scheduler or a terminal, and an output that nobody reads
// any more. The handlers belong to the process, and so do these functions.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_TRAIN_STOPSIGNALS_H
#define TESSERA_TOOLS_TESSERA_TRAIN_STOPSIGNALS_H

#include "tools/tessera/options/ExitStatus.h"

namespace tessera {

/// The stages of a run differ in what a signal can lose.
enum class RunStage {
  Preparing, ///< Nothing: the process ends at once, with kStoppedExitCode.
  Stepping,  ///< The steps since the last checkpoint.
  Saving,    ///< The checkpoint that is being written.
  Ending     ///< Nothing: the process ends by itself.
};

/// Handles the signals from now on, in the stage Preparing. Writing to a closed
/// pipe becomes an error of the write. A process that is not the first of its
/// run says nothing: all of them get the Ctrl-C of a terminal.
void handleStopSignals(bool isFirst);

/// Tells the handlers that the run is now in this stage.
void enterStage(RunStage stage);

/// Returns whether a signal came while the run was Stepping or Saving.
bool isToldToStop();

/// Returns "the standard output" or "the standard error" if nobody reads it any
/// more, because its pipe or terminal is closed; else null.
const char *closedOutput();

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TRAIN_STOPSIGNALS_H
