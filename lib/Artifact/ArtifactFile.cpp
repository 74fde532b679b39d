//===- ArtifactFile.cpp - the artifact that a command works on ------------===//

#include "tessera/Artifact/ArtifactFile.h"
#include "tessera/Artifact/RuntimeError.h"
#include "tessera/Pipelines/EmitError.h"
#include "tessera/Program/ProgramJson.h"
#include "tessera/Target/TemporaryFile.h"

using namespace mlir;
using namespace tessera;

llvm::Error ArtifactFile::load(const std::string &path,
                               const std::vector<std::string> &trustedKeys) {
  std::vector<const char *> keys;
  for (const std::string &key : trustedKeys)
    keys.push_back(key.c_str());
  tsr_artifact *loaded = nullptr;
  tsr_status status = keys.empty()
                          ? tsr_artifact_load(path.c_str(), &loaded)
                          : tsr_artifact_load_trusted(path.c_str(), keys.data(),
                                                      keys.size(), &loaded);
  if (status != TSR_OK)
    return runtimeError();
  artifact.reset(loaded);
  return llvm::Error::success();
}

std::string ArtifactFile::signer() const {
  const char *fingerprint = nullptr;
  return tsr_artifact_signer(get(), &fingerprint) == TSR_OK ? fingerprint
                                                            : "unknown";
}

LogicalResult ArtifactFile::open(MLIRContext &context,
                                 const PlannedModel &options,
                                 const SizeCheck &check) {
  if (!options.isArtifact()) {
    TemporaryFile file;
    if (std::error_code error = file.create("tsr"))
      return emitFailure(context, describeTemporary(error));
    std::string path = file.path.str().str();
    if (failed(compileModel(context, options, path, check)))
      return failure();
    if (llvm::Error error = load(path))
      return emitFailure(context, std::move(error));
    return success();
  }
  if (llvm::Error error = load(options.model, options.trustedKeys))
    return emitFailure(context, std::move(error));
  int64_t ranks = tsr_artifact_ranks(get());
  if (options.ranks && ranks > options.ranks)
    return emitFailure(
        context, "'" + options.model + "' was compiled for " +
                     std::to_string(ranks) + " ranks, but --ranks allows " +
                     std::to_string(options.ranks) +
                     "; compile it for a smaller mesh or raise --ranks");
  return success();
}

DeviceKind ArtifactFile::device() const {
  llvm::Expected<program::Program> read = readProgram();
  if (read)
    return fromName<DeviceKind>(read->target.device).value_or(DeviceKind::Cpu);
  llvm::consumeError(read.takeError()); // The runtime has parsed it, too.
  return DeviceKind::Cpu;
}

llvm::Expected<program::Program> ArtifactFile::readProgram() const {
  return program::readProgram(metadata());
}
