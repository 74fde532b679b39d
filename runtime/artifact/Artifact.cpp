#include "runtime/artifact/Artifact.h"

#include "runtime/support/File.h"
#include "runtime/support/Status.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace tessera {

static tsr_abi_header readHeader(const InputFile &file) {
  tsr_abi_header header;
  if (file.size() < sizeof header)
    fail(TSR_CORRUPT, "'", file.path(), "' has ", file.size(),
         " bytes, the header alone has ", sizeof header,
         "; compile the model again");
  file.read(0, &header, sizeof header);
  if (std::memcmp(header.magic, TSR_ARTIFACT_MAGIC, sizeof header.magic) != 0)
    fail(TSR_CORRUPT, "'", file.path(),
         "' is not a Tessera artifact (its first bytes are not 'TESSERA')");
  if (header.abi_version != TSR_ABI_VERSION)
    fail(TSR_CORRUPT, "'", file.path(), "' has ABI version ",
         header.abi_version, ", this runtime has ", TSR_ABI_VERSION,
         "; compile the model again with the compiler of this version");
  if (header.header_bytes != sizeof header)
    fail(TSR_CORRUPT, "'", file.path(), "' has a header of ",
         header.header_bytes, " bytes, expected ", sizeof header);
  uint64_t body = file.size() - sizeof header;
  if (header.metadata_bytes > body ||
      header.code_bytes != body - header.metadata_bytes)
    fail(TSR_CORRUPT, "'", file.path(), "' has ", body,
         " bytes after the header, which says ", header.metadata_bytes,
         " of metadata and ", header.code_bytes,
         " of code; the file is torn, copy or compile it again");
  return header;
}

namespace {
/// All that is used of an artifact: what is checked is what runs, whatever
/// becomes of the file.
struct ArtifactBytes {
  tsr_abi_header header;
  std::string all; ///< with zeros for the signature, which is of this

  std::string_view body() const {
    return std::string_view(all).substr(sizeof header);
  }
};
} // namespace

static void checkHash(const std::string &path, const ArtifactBytes &bytes) {
  uint64_t hash = hashBytes(bytes.body().data(), bytes.body().size());
  if (hash != bytes.header.hash)
    fail(TSR_CORRUPT, "'", path, "' has hash ", hashText(hash),
         ", its header says ", hashText(bytes.header.hash),
         "; the file is altered, copy or compile it again");
}

static ArtifactBytes readArtifact(const std::string &path) {
  InputFile file(path);
  ArtifactBytes bytes{readHeader(file), file.readAll()};
  tsr_abi_header unsignedHeader = bytes.header;
  std::memset(unsignedHeader.signature, 0, sizeof unsignedHeader.signature);
  std::memcpy(bytes.all.data(), &unsignedHeader, sizeof unsignedHeader);
  checkHash(path, bytes);
  return bytes;
}

static std::optional<PublicKey> checkSignature(const std::string &path,
                                               const ArtifactBytes &bytes) {
  PublicKey key;
  Signature signature;
  std::memcpy(key.bytes.data(), bytes.header.key, sizeof bytes.header.key);
  std::memcpy(signature.data(), bytes.header.signature, signature.size());
  if (key == PublicKey{} && signature == Signature{})
    return std::nullopt;
  if (key.isOfSmallOrder() ||
      (hasSignatures() && !key.hasSigned(bytes.all, signature)))
    fail(TSR_CORRUPT, "'", path, "' has a signature that key ",
         key.fingerprint(),
         " has not made of this content; the file is altered, copy or compile "
         "it again");
  return key;
}

static std::string fingerprintsOf(const std::vector<PublicKey> &keys) {
  std::string text;
  for (const PublicKey &key : keys)
    text += (text.empty() ? "" : " or ") + key.fingerprint();
  return text;
}

static void requireSigner(const std::string &path,
                          const std::optional<PublicKey> &signer,
                          const std::vector<PublicKey> &trusted) {
  if (!signer)
    fail(TSR_UNTRUSTED, "'", path, "' is not signed, it must be by key ",
         fingerprintsOf(trusted),
         "; get a signed copy, or sign it with: tessera sign");
  if (std::find(trusted.begin(), trusted.end(), *signer) == trusted.end())
    fail(TSR_UNTRUSTED, "'", path, "' is signed by key ", signer->fingerprint(),
         ", it must be by key ", fingerprintsOf(trusted),
         "; get a copy that is, or trust its signer's key, too");
}

static Artifact parseArtifact(const std::string &path,
                              const ArtifactBytes &bytes,
                              const std::optional<PublicKey> &signer) {
  std::string_view body = bytes.body();
  size_t metadataBytes = bytes.header.metadata_bytes;
  Artifact artifact;
  artifact.path = path;
  artifact.text = body.substr(0, metadataBytes);
  std::string source = concat("'", path, "'");
  artifact.metadata = std::make_shared<Metadata>(
      parseMetadata(source + " metadata", artifact.text));
  artifact.code =
      std::make_shared<Code>(source, std::string(body.substr(metadataBytes)));
  artifact.hash = bytes.header.hash;
  artifact.signer = signer;
  return artifact;
}

Artifact loadArtifact(const std::string &path) {
  ArtifactBytes bytes = readArtifact(path);
  return parseArtifact(path, bytes, checkSignature(path, bytes));
}

Artifact loadArtifact(const std::string &path,
                      const std::vector<PublicKey> &trusted) {
  ArtifactBytes bytes = readArtifact(path);
  std::optional<PublicKey> signer = checkSignature(path, bytes);
  requireSigner(path, signer, trusted);
  return parseArtifact(path, bytes, signer);
}

std::string signArtifact(const std::string &path, const PrivateKey &key) {
  ArtifactBytes bytes = readArtifact(path);
  // Nobody signs what does not load.
  parseArtifact(path, bytes, checkSignature(path, bytes));
  PublicKey signer = key.publicKey();
  std::memcpy(&bytes.all[offsetof(tsr_abi_header, key)], signer.bytes.data(),
              signer.bytes.size());
  Signature signature = key.sign(bytes.all);
  std::memcpy(&bytes.all[offsetof(tsr_abi_header, signature)], signature.data(),
              signature.size());
  return std::move(bytes.all);
}

} // namespace tessera
