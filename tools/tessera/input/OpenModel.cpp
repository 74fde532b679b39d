//===- OpenModel.cpp - the model of a command -----------------------------===//

#include "tools/tessera/input/OpenModel.h"
#include "tools/tessera/input/CompilerContext.h"
#include "tools/tessera/output/PrintError.h"

using namespace tessera;

bool tessera::openArtifact(const PlannedModel &options, ArtifactFile &artifact,
                           const SizeCheck &check) {
  CompilerContext compiler;
  return succeeded(artifact.open(compiler.context, options, check));
}

bool tessera::openArtifact(const PlannedModel &options, ArtifactFile &artifact,
                           Report &report, const SizeCheck &check) {
  return openArtifact(options, artifact, check) &&
         !printIfError(report.read(artifact.metadata()));
}

std::optional<std::string>
tessera::describeModel(const PlannedModel &options,
                       const PassObserver &observer) {
  CompilerContext compiler;
  mlir::FailureOr<std::string> metadata =
      describeModel(compiler.context, options, observer);
  if (failed(metadata))
    return std::nullopt;
  return *metadata;
}
