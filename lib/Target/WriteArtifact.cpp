//===- WriteArtifact.cpp - writes a `.tsr` file ---------------------------===//

#include "tessera/Target/WriteArtifact.h"
#include "tessera/Target/OutputFile.h"
#include "tessera/abi.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace tessera {

static SmallVector<char> payloadOf(StringRef metadata, ArrayRef<char> code) {
  SmallVector<char> payload(metadata.begin(), metadata.end());
  payload.append(code.begin(), code.end());
  return payload;
}

static tsr_abi_header headerOf(StringRef metadata, ArrayRef<char> code,
                               ArrayRef<char> payload) {
  tsr_abi_header header = {};
  std::memcpy(header.magic, TSR_ARTIFACT_MAGIC, sizeof(header.magic));
  header.abi_version = TSR_ABI_VERSION;
  header.header_bytes = sizeof(header);
  header.metadata_bytes = metadata.size();
  header.code_bytes = code.size();
  header.hash = llvm::xxh3_64bits(StringRef(payload.data(), payload.size()));
  return header;
}

LogicalResult writeArtifact(StringRef path, StringRef metadataJson,
                            ArrayRef<char> code, EmitError emitError) {
  if (metadataJson.size() > TSR_LIMIT_METADATA_BYTES)
    return emitError() << "the program is described by " << metadataJson.size()
                       << " bytes of metadata, an artifact has at most "
                       << TSR_LIMIT_METADATA_BYTES
                       << "; use fewer micro-batches or layers";
  SmallVector<char> payload = payloadOf(metadataJson, code);
  tsr_abi_header header = headerOf(metadataJson, code, payload);
  if (llvm::Error error = writeFile(
          path,
          {StringRef(reinterpret_cast<const char *>(&header), sizeof(header)),
           StringRef(payload.data(), payload.size())}))
    return emitError() << llvm::toString(std::move(error));
  return success();
}

} // namespace tessera
