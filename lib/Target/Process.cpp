//===- Process.cpp - other programs, and the files between ----------------===//

#include "lib/Target/Process.h"
#include "tessera/Target/OwnFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace tessera {

LogicalResult create(TemporaryFile &file, StringRef suffix,
                     EmitError emitError) {
  if (std::error_code error = file.create(suffix))
    return emitError() << describeTemporary(error);
  return success();
}

LogicalResult writeFile(StringRef path, StringRef bytes, EmitError emitError) {
  int descriptor = -1;
  std::error_code error = openOwnFile(path, descriptor);
  if (!error) {
    llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
    stream << bytes;
    stream.close();
    error = stream.error();
    stream.clear_error();
  }
  if (error)
    return emitError() << "cannot write '" << path << "': " << error.message();
  return success();
}

FailureOr<SmallVector<char>> readFile(StringRef path, EmitError emitError) {
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return emitError() << "cannot read '" << path
                       << "': " << file.getError().message();
  StringRef bytes = (*file)->getBuffer();
  return SmallVector<char>(bytes.begin(), bytes.end());
}

LogicalResult runProgram(ArrayRef<std::string> arguments, StringRef what,
                         EmitError emitError) {
  TemporaryFile log;
  if (failed(create(log, "log", emitError)))
    return failure();
  SmallVector<StringRef> argv(arguments.begin(), arguments.end());
  std::optional<StringRef> redirects[] = {StringRef(), log.path.str(),
                                          log.path.str()};
  std::string why;
  int code = llvm::sys::ExecuteAndWait(argv[0], argv, std::nullopt, redirects,
                                       0, 0, &why);
  if (code == 0)
    return success();
  if (auto text = llvm::MemoryBuffer::getFile(log.path))
    why += (*text)->getBuffer().trim();
  return emitError() << what << " failed: '" << argv[0] << "' returned " << code
                     << ": " << why;
}

} // namespace tessera
