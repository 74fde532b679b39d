//===- SharedFiles.h - files that all processes read alike ------*- C++ -*-===//
// The session compares what it reads between processes (tessera.h). These are
// the files that the command reads before that, to compile the model and to
// choose what to do: they are compared by name and content, with the options.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_INPUT_SHAREDFILES_H
#define TESSERA_TOOLS_TESSERA_INPUT_SHAREDFILES_H

#include "tools/tessera/train/TrainOptions.h"

namespace tessera {

/// Adds to `options.shared` what each process finds on its own disk: the model
/// and the files beside it, and the checkpoint from which a run goes on. Does
/// nothing for a process that is alone.
void shareFiles(TrainOptions &options);
/// Does the same for an evaluation, which may be of a file of questions.
void shareFiles(RunSettings &options, const std::string &questions);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_INPUT_SHAREDFILES_H
