//===- ArtifactTarget.cpp - `.tsr` files, none of them loaded -------------===//
#include "runtime/artifact/Artifact.h"
#include "runtime/support/File.h"
#include "test/Fuzz/Runtime/Fuzzed.h"

#include <cstring>

using namespace tessera;
using namespace fuzzed;

/// Checks that a signed artifact is taken by those who trust the signer, and by
/// them alone; one that was altered, or is by another signer, is not.
static void checkTrust(const std::string &path) {
  static const MemoryFile keyFile(publishedKey);
  static const PrivateKey key(keyFile.path());
  const std::vector<PublicKey> trusted = {key.publicKey()}, other = {{}};
  bool isSigned = loadArtifact(path).signer == key.publicKey();
  require(accepts([&] { loadArtifact(path, trusted); }) == isSigned,
          "an artifact is trusted if its signer is");
  std::string content = signArtifact(path, key);
  MemoryFile copy(content);
  require(loadArtifact(copy.path(), trusted).signer == key.publicKey(),
          "what is signed is trusted");
  require(!accepts([&] { loadArtifact(copy.path(), other); }),
          "another signer is not trusted");
  content.back() ^= 1;
  MemoryFile altered(content);
  require(!accepts([&] { loadArtifact(altered.path()); }),
          "what is altered is refused");
}

static void read(std::string_view content) {
  MemoryFile file(content);
  bool isRead = accepts([&] {
    Artifact artifact = loadArtifact(file.path());
    require(artifact.metadata && artifact.code, "an artifact has both parts");
    require(artifact.text.size() <= content.size(), "the text is the file's");
    tsr_abi_header header;
    std::memcpy(&header, content.data(), sizeof header);
    PublicKey key;
    std::memcpy(key.bytes.data(), header.key, sizeof header.key);
    require(artifact.signer.value_or(PublicKey{}) == key,
            "who signed it is who it says");
  });
  if (isRead && hasSignatures())
    checkTrust(file.path());
}

/// Returns the content, unsigned, with a header that is right for what follows,
/// which a fuzzer hardly finds. `metadata_bytes` stays as it is if it can.
static std::string repaired(std::string content) {
  tsr_abi_header header;
  std::memcpy(&header, content.data(), sizeof header);
  std::memcpy(header.magic, TSR_ARTIFACT_MAGIC, sizeof header.magic);
  uint64_t body = content.size() - sizeof header;
  header.abi_version = TSR_ABI_VERSION;
  header.header_bytes = sizeof header;
  header.metadata_bytes %= body + 1;
  header.code_bytes = body - header.metadata_bytes;
  header.hash = hashBytes(content.data() + sizeof header, body);
  std::memset(header.key, 0, sizeof header.key);
  std::memset(header.signature, 0, sizeof header.signature);
  std::memcpy(content.data(), &header, sizeof header);
  return content;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string content(reinterpret_cast<const char *>(data), size);
  read(content);
  if (size >= sizeof(tsr_abi_header))
    read(repaired(std::move(content)));
  return 0;
}
