//===- Linker.cpp - object code to a shared object ------------------------===//

#include "tessera/Target/SharedObject.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace tessera {

static constexpr const char *kLinkerDirectory = "/usr/lib/llvm-22/bin";
static constexpr const char *kLibraryDirectories[] = {"/lib/x86_64-linux-gnu",
                                                      "/lib/aarch64-linux-gnu",
                                                      "/lib64",
                                                      "/usr/lib64",
                                                      "/lib",
                                                      "/usr/lib"};

static FailureOr<std::string> findLinker(StringRef linker,
                                         EmitError emitError) {
  if (!linker.empty()) {
    if (llvm::sys::fs::can_execute(linker))
      return linker.str();
    return emitError() << "'" << linker << "' is not an executable linker";
  }
  StringRef directory = kLinkerDirectory;
  if (auto found = llvm::sys::findProgramByName("ld.lld", directory))
    return *found;
  if (auto found = llvm::sys::findProgramByName("ld.lld"))
    return *found;
  return emitError() << "no linker: ld.lld is neither in " << kLinkerDirectory
                     << " nor in the PATH; install the package lld-22";
}

/// libm and libc by their full names: development packages are not needed.
/// Without them (another C library) undefined symbols are left to the loader.
static void addSystemLibraries(SmallVectorImpl<std::string> &arguments) {
  for (const char *directory : kLibraryDirectories) {
    std::string libm = std::string(directory) + "/libm.so.6";
    std::string libc = std::string(directory) + "/libc.so.6";
    if (!llvm::sys::fs::exists(libm) || !llvm::sys::fs::exists(libc))
      continue;
    arguments.append({"--as-needed", libm, libc, "-z", "defs"});
    return;
  }
}

namespace {
/// A temporary file that is removed when this goes out of scope.
struct TemporaryFile {
  SmallString<128> path;
  std::optional<llvm::FileRemover> remover;

  LogicalResult create(StringRef suffix, EmitError emitError) {
    if (auto error =
            llvm::sys::fs::createTemporaryFile("tessera", suffix, path))
      return emitError() << "cannot create a temporary file: "
                         << error.message();
    remover.emplace(path);
    return success();
  }
};
} // namespace

static LogicalResult writeFile(StringRef path, ArrayRef<char> bytes,
                               EmitError emitError) {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (!error) {
    stream.write(bytes.data(), bytes.size());
    stream.close();
    error = stream.error();
    stream.clear_error();
  }
  if (error)
    return emitError() << "cannot write '" << path << "': " << error.message();
  return success();
}

static LogicalResult runLinker(StringRef program,
                               ArrayRef<std::string> arguments,
                               StringRef logPath, EmitError emitError) {
  SmallVector<StringRef> argv(arguments.begin(), arguments.end());
  std::optional<StringRef> redirects[] = {StringRef(), logPath, logPath};
  std::string why;
  int code = llvm::sys::ExecuteAndWait(program, argv, std::nullopt, redirects,
                                       0, 0, &why);
  if (code == 0)
    return success();
  if (auto log = llvm::MemoryBuffer::getFile(logPath))
    why += (*log)->getBuffer().trim();
  return emitError() << "linking failed: '" << program << "' returned " << code
                     << ": " << why;
}

FailureOr<ObjectCode> linkSharedObject(ArrayRef<ObjectCode> objects,
                                       StringRef linker, EmitError emitError) {
  FailureOr<std::string> program = findLinker(linker, emitError);
  TemporaryFile output, log;
  if (failed(program) || failed(output.create("so", emitError)) ||
      failed(log.create("log", emitError)))
    return failure();
  SmallVector<std::string> arguments = {
      *program,      "-shared", "--build-id=none",      "-z",
      "noexecstack", "-o",      output.path.str().str()};
  std::vector<TemporaryFile> inputs(objects.size());
  for (auto [input, object] : llvm::zip(inputs, objects)) {
    if (failed(input.create("o", emitError)) ||
        failed(writeFile(input.path, object, emitError)))
      return failure();
    arguments.push_back(input.path.str().str());
  }
  addSystemLibraries(arguments);
  if (failed(runLinker(*program, arguments, log.path, emitError)))
    return failure();
  auto linked = llvm::MemoryBuffer::getFile(output.path);
  if (!linked)
    return emitError() << "cannot read the linker's output: "
                       << linked.getError().message();
  StringRef bytes = (*linked)->getBuffer();
  return ObjectCode(bytes.begin(), bytes.end());
}

} // namespace tessera
