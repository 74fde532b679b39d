//===- OpenModel.h - the model of a command ---------------------*- C++ -*-===//
// Errors, and what the compiler says, are printed.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_INPUT_OPENMODEL_H
#define TESSERA_TOOLS_TESSERA_INPUT_OPENMODEL_H

#include "tessera/Artifact/ArtifactFile.h"
#include "tessera/Report/Report.h"

namespace tessera {

/// Loads, or compiles and loads, the model of `options`.
bool openArtifact(const PlannedModel &options, ArtifactFile &artifact,
                  const SizeCheck &check = {});
/// Reads what the artifact says of itself, too.
bool openArtifact(const PlannedModel &options, ArtifactFile &artifact,
                  Report &report, const SizeCheck &check = {});

/// Compiles a model without making code. Returns what its artifact would say of
/// itself, or nothing after an error. `observer` sees the program after each
/// pass.
std::optional<std::string> describeModel(const PlannedModel &options,
                                         const PassObserver &observer = {});

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_INPUT_OPENMODEL_H
