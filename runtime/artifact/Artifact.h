//===- Artifact.h - a loaded .tsr file --------------------------*- C++ -*-===//
// Header, metadata and code, all checked, and none of the code run: a session
// loads it. Metadata and code are shared with the sessions, which may outlive
// the artifact.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_ARTIFACT_ARTIFACT_H
#define TESSERA_RUNTIME_ARTIFACT_ARTIFACT_H

#include "runtime/artifact/Code.h"
#include "runtime/artifact/Metadata.h"
#include "runtime/support/Signature.h"

#include <memory>
#include <optional>
#include <vector>

namespace tessera {

struct Artifact {
  std::string path;
  std::string text; ///< the metadata as it lies in the file
  std::shared_ptr<const Metadata> metadata;
  std::shared_ptr<const Code> code;
  uint64_t hash = 0; ///< over metadata and code
  /// Whose signature it has. It was checked, unless hasSignatures() is false.
  std::optional<PublicKey> signer;
};

/// Loads an artifact. TSR_NOT_FOUND, TSR_IO, TSR_CORRUPT.
Artifact loadArtifact(const std::string &path);
/// Loads an artifact. TSR_UNTRUSTED: none of these keys has signed it.
Artifact loadArtifact(const std::string &path,
                      const std::vector<PublicKey> &trusted);
/// Returns the bytes of the artifact, signed by this key alone.
std::string signArtifact(const std::string &path, const PrivateKey &key);

} // namespace tessera

#endif // TESSERA_RUNTIME_ARTIFACT_ARTIFACT_H
