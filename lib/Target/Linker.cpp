//===- Linker.cpp - object code to a shared object ------------------------===//

#include "lib/Target/Process.h"
#include "tessera/Target/SharedObject.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

using namespace mlir;

namespace tessera {

static constexpr const char *kLinkerVariable = "TESSERA_LINKER";
static constexpr const char *kLinkerDirectory = "/usr/lib/llvm-22/bin";
static constexpr const char *kLibraryDirectories[] = {"/lib/x86_64-linux-gnu",
                                                      "/lib/aarch64-linux-gnu",
                                                      "/lib64",
                                                      "/usr/lib64",
                                                      "/lib",
                                                      "/usr/lib"};

llvm::ErrorOr<std::string> findLinker() {
  if (auto chosen = llvm::sys::Process::GetEnv(kLinkerVariable);
      chosen && !chosen->empty()) {
    auto found = llvm::sys::findProgramByName(*chosen);
    if (found && !llvm::sys::fs::can_execute(*found))
      return std::make_error_code(std::errc::permission_denied);
    return found;
  }
  StringRef directory = kLinkerDirectory;
  if (auto found = llvm::sys::findProgramByName("ld.lld", directory))
    return *found;
  return llvm::sys::findProgramByName("ld.lld");
}

static FailureOr<std::string> findLinker(StringRef linker,
                                         EmitError emitError) {
  if (!linker.empty()) {
    if (llvm::sys::fs::can_execute(linker))
      return linker.str();
    return emitError() << "'" << linker << "' is not an executable linker";
  }
  if (auto found = findLinker())
    return *found;
  if (auto chosen = llvm::sys::Process::GetEnv(kLinkerVariable);
      chosen && !chosen->empty())
    return emitError() << kLinkerVariable << " '" << *chosen
                       << "' is not an executable linker; name ld.lld or GNU "
                          "ld, or unset it";
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

FailureOr<ObjectCode> linkSharedObject(ArrayRef<ObjectCode> objects,
                                       StringRef linker, EmitError emitError) {
  FailureOr<std::string> program = findLinker(linker, emitError);
  TemporaryFile output;
  if (failed(program) || failed(create(output, "so", emitError)))
    return failure();
  SmallVector<std::string> arguments = {
      *program,      "-shared", "--build-id=none",      "-z",
      "noexecstack", "-o",      output.path.str().str()};
  std::vector<TemporaryFile> inputs(objects.size());
  for (auto [input, object] : llvm::zip(inputs, objects)) {
    if (failed(create(input, "o", emitError)) ||
        failed(writeFile(input.path, StringRef(object.data(), object.size()),
                         emitError)))
      return failure();
    arguments.push_back(input.path.str().str());
  }
  addSystemLibraries(arguments);
  if (failed(runProgram(arguments, "linking", emitError)))
    return failure();
  return readFile(output.path, emitError);
}

} // namespace tessera
