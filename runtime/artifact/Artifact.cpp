#include "runtime/artifact/Artifact.h"

#include "runtime/support/File.h"
#include "runtime/support/Status.h"

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

Artifact loadArtifact(const std::string &path) {
  InputFile file(path);
  tsr_abi_header header = readHeader(file);
  std::string content = file.readAll();
  const char *body = content.data() + sizeof header;
  uint64_t hash = hashBytes(body, content.size() - sizeof header);
  if (hash != header.hash)
    fail(TSR_CORRUPT, "'", path, "' has hash ", hashText(hash),
         ", its header says ", hashText(header.hash),
         "; the file is altered, copy or compile it again");
  Artifact artifact;
  artifact.path = path;
  artifact.text.assign(body, header.metadata_bytes);
  std::string source = concat("'", path, "'");
  artifact.metadata = std::make_shared<Metadata>(
      parseMetadata(source + " metadata", artifact.text));
  artifact.code = std::make_shared<Code>(
      source, std::string(body + header.metadata_bytes, header.code_bytes));
  return artifact;
}

} // namespace tessera
