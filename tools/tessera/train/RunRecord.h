//===- RunRecord.h - what a checkpoint knows of its run ---------*- C++ -*-===//
// Objects of JSON that `tessera train` keeps in manifests, by name.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_TRAIN_RUNRECORD_H
#define TESSERA_TOOLS_TESSERA_TRAIN_RUNRECORD_H

#include "tessera/tessera.h"
#include "tools/tessera/options/DriverOptions.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>

namespace tessera {

/// The manifest of a step directory, or of the newest in its parent; nothing if
/// there is none that can be read.
std::optional<llvm::json::Object> manifestIn(const std::string &directory);

/// A record of a checkpoint; empty if it has none.
llvm::json::Object readRecord(const std::string &directory,
                              llvm::StringRef name);
/// Keeps it in the checkpoints of a session. Prints an error.
bool keepRecord(tsr_session *session, const char *name,
                llvm::json::Object record);

/// The options that a run was given, for parseCommandLine. False: there is no
/// checkpoint that says.
bool readRecipe(const std::string &directory, RunRecipe &recipe);

/// The values in effect of the options of a run, of those that make it what it
/// is, by the artifact's metadata.
std::map<std::string, std::string> recipeValues(const DriverOptions &options,
                                                const char *metadata);

/// Keeps the recipe of a run in its checkpoints; of one that goes on a line
/// says what differs from before. Prints errors.
bool keepRecipe(const DriverOptions &options, const char *metadata,
                tsr_session *session);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TRAIN_RUNRECORD_H
