//===- ArtifactFile.cpp - the artifact that a command works on ------------===//

#include "tools/tessera/input/ArtifactFile.h"
#include "tessera/Program/ProgramJson.h"
#include "tessera/Target/TemporaryFile.h"
#include "tools/tessera/report/PrintError.h"

using namespace tessera;

bool ArtifactFile::load(const std::string &path,
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
    return !printError(tsr_last_error());
  artifact.reset(loaded);
  return true;
}

std::string ArtifactFile::signer() const {
  const char *fingerprint = nullptr;
  return tsr_artifact_signer(get(), &fingerprint) == TSR_OK ? fingerprint
                                                            : "unknown";
}

bool ArtifactFile::open(const PlannedModel &options, const SizeCheck &check) {
  if (!options.isArtifact()) {
    TemporaryFile file;
    if (std::error_code error = file.create("tsr"))
      return !printError(describeTemporary(error));
    std::string path = file.path.str().str();
    return compileModel(options, path, check) && load(path);
  }
  if (!load(options.model, options.trustedKeys))
    return false;
  int64_t ranks = tsr_artifact_ranks(get());
  if (options.ranks && ranks > options.ranks)
    return !printError("'" + options.model + "' was compiled for " +
                       std::to_string(ranks) + " ranks, but --ranks allows " +
                       std::to_string(options.ranks) +
                       "; compile it for a smaller mesh or raise --ranks");
  return true;
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
