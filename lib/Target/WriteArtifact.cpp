//===- WriteArtifact.cpp - writes a `.tsr` file ---------------------------===//

#include "tessera/Target/WriteArtifact.h"
#include "tessera/abi.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <unistd.h>

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

/// Writes, flushes and syncs; returns the first error.
static std::error_code writeAndSync(int file, const tsr_abi_header &header,
                                    ArrayRef<char> payload) {
  llvm::raw_fd_ostream stream(file, /*shouldClose=*/false);
  stream.write(reinterpret_cast<const char *>(&header), sizeof(header));
  stream.write(payload.data(), payload.size());
  stream.flush();
  std::error_code error = stream.error();
  stream.clear_error();
  if (!error && fsync(file) != 0)
    error = std::error_code(errno, std::generic_category());
  return error;
}

LogicalResult writeArtifact(StringRef path, StringRef metadataJson,
                            ArrayRef<char> code, EmitError emitError) {
  auto fail = [&](std::error_code error) -> LogicalResult {
    return emitError() << "cannot write '" << path << "': " << error.message();
  };
  SmallVector<char> payload = payloadOf(metadataJson, code);
  tsr_abi_header header = headerOf(metadataJson, code, payload);

  int file = -1;
  SmallString<128> temporary;
  if (auto error = llvm::sys::fs::createUniqueFile(
          path + ".%%%%%%%%.tmp", file, temporary, llvm::sys::fs::OF_None,
          0644))
    return fail(error);
  llvm::scope_exit removeTemporary(
      [&] { (void)llvm::sys::fs::remove(temporary); });
  std::error_code error = writeAndSync(file, header, payload);
  if (::close(file) != 0 && !error)
    error = std::error_code(errno, std::generic_category());
  if (error)
    return fail(error);
  if (auto renamed = llvm::sys::fs::rename(temporary, path))
    return fail(renamed);
  removeTemporary.release();
  return success();
}

} // namespace tessera
