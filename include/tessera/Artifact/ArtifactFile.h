//===- ArtifactFile.h - the artifact that a command works on ----*- C++ -*-===//
// It is a file that was named, or a temporary one that a model is compiled to
// and that is removed once it is loaded.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_ARTIFACT_ARTIFACTFILE_H
#define TESSERA_ARTIFACT_ARTIFACTFILE_H

#include "tessera/Pipelines/CompileModel.h"
#include "tessera/Program/Program.h"
#include "tessera/tessera.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace tessera {

class ArtifactFile {
public:
  /// If there are `trustedKeys`, one of them must have signed it.
  llvm::Error load(const std::string &path,
                   const std::vector<std::string> &trustedKeys = {});
  /// Loads, or compiles and loads, the model of `options`. What is compiled is
  /// checked first. Errors are diagnostics of the context, as compileModel has
  /// them.
  mlir::LogicalResult open(mlir::MLIRContext &context,
                           const PlannedModel &options,
                           const SizeCheck &check = {});

  const tsr_artifact *get() const { return artifact.get(); }
  const char *metadata() const { return tsr_artifact_metadata(get()); }

  /// The fingerprint of who signed it, "" if nobody did, "unknown" where this
  /// build cannot check it.
  std::string signer() const;
  /// Returns the device that it is compiled for.
  DeviceKind device() const;
  /// Reads all of the metadata but the calls.
  llvm::Expected<program::Program> readProgram() const;

private:
  struct Destroy {
    void operator()(tsr_artifact *object) const {
      tsr_artifact_destroy(object);
    }
  };
  std::unique_ptr<tsr_artifact, Destroy> artifact;
};

} // namespace tessera

#endif // TESSERA_ARTIFACT_ARTIFACTFILE_H
