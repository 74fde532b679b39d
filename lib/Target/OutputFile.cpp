//===- OutputFile.cpp - files that commands write -------------------------===//

#include "tessera/Target/OutputFile.h"
#include "lib/Target/NewFile.h"
#include <vector>

using namespace llvm;

namespace tessera {

static std::error_code writeAll(int file, ArrayRef<StringRef> parts) {
  for (StringRef part : parts)
    if (std::error_code error = writeBytes(file, part))
      return error;
  return syncFile(file);
}

static std::error_code writeInto(StringRef path, ArrayRef<StringRef> parts) {
  HeldFile file;
  if (std::error_code error = openInto(path, file))
    return error;
  std::error_code error = writeAll(file.descriptor(), parts);
  std::error_code closing = file.close();
  return error ? error : closing;
}

static std::error_code writeBeside(const OutputFile &output,
                                   std::vector<NewFile> &files) {
  Destination destination;
  if (std::error_code error = findDestination(output.path, destination))
    return error;
  if (!destination.isReplaced)
    return writeInto(output.path, output.parts);
  NewFile &file = files.emplace_back();
  if (std::error_code error = file.open(destination.path))
    return error;
  return writeAll(file.descriptor(), output.parts);
}

std::pair<std::error_code, std::string>
writeOutputs(ArrayRef<OutputFile> outputs) {
  std::vector<NewFile> files;
  files.reserve(outputs.size());
  for (const OutputFile &output : outputs)
    if (std::error_code error = writeBeside(output, files))
      return {error, output.path};
  for (NewFile &file : files)
    if (std::error_code error = file.rename())
      return {error, file.path()};
  return {};
}

std::error_code writeOutput(StringRef path, ArrayRef<StringRef> parts) {
  return writeOutputs(OutputFile{path.str(), llvm::to_vector(parts)}).first;
}

llvm::Error writeFile(StringRef path, ArrayRef<StringRef> parts) {
  if (std::error_code error = writeOutput(path, parts))
    return llvm::createStringError("cannot write '" + path +
                                   "': " + error.message());
  return llvm::Error::success();
}

} // namespace tessera
