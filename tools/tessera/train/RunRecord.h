//===- RunRecord.h - what a checkpoint knows of its run ---------*- C++ -*-===//
// `tessera train` keeps JSON objects in manifests, each under a name.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_TRAIN_RUNRECORD_H
#define TESSERA_TOOLS_TESSERA_TRAIN_RUNRECORD_H

#include "tessera/tessera.h"
#include "tools/tessera/train/TrainOptions.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>

namespace tessera {

/// Returns the manifest of a step directory, or of the newest step in a
/// directory of steps; nothing if there is none that can be read.
std::optional<llvm::json::Object> manifestIn(const std::string &directory);

/// Returns a record of a checkpoint; it is empty if there is none.
llvm::json::Object readRecord(const std::string &directory,
                              llvm::StringRef name);
/// Keeps a record in the checkpoints of a session. Prints an error.
bool keepRecord(tsr_session *session, const char *name,
                llvm::json::Object record);

/// Reads the options that a run was given, for parseCommandLine. Returns false
/// if there is no checkpoint that says.
bool readRecipe(const std::string &directory, RunRecipe &recipe);

/// Returns the values in effect of the options that make a run what it is, as
/// the artifact's metadata has them.
std::map<std::string, std::string> recipeValues(const TrainOptions &options,
                                                const char *metadata);

/// Keeps the recipe of a run in its checkpoints. If the run goes on, notes say
/// what differs from before. Prints errors.
bool keepRecipe(const TrainOptions &options, const char *metadata,
                tsr_session *session);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TRAIN_RUNRECORD_H
