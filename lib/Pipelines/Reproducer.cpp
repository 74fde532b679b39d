//===- Reproducer.cpp - the input of a pass that crashed ------------------===//

#include "lib/Pipelines/Reproducer.h"
#include "mlir/Pass/Pass.h"
#include "tessera/Target/OwnFile.h"
#include "tessera/Target/StreamedOutput.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tessera;

namespace {

/// The facts that are known of a failure. A crashed pass reports nothing:
/// neither that it failed nor why.
struct Failure {
  bool hasErrors = false, isReported = false;

  bool isExplained() const { return hasErrors && isReported; }
};

class FailureObserver : public PassInstrumentation {
public:
  explicit FailureObserver(Failure &failure) : failure(failure) {}
  void runAfterPassFailed(Pass *, Operation *) override {
    failure.isReported = true;
  }

private:
  Failure &failure;
};

/// A file in a private directory, under a name that nobody can foresee. A crash
/// writes it twice: where the signal is caught, and after the passes.
struct PrivateFile : ReproducerStream {
  PrivateFile(SmallVectorImpl<char> &path, std::error_code &error) {
    int descriptor = -1;
    error = path.empty() ? createKeptFile("tessera-crash", "reproducer.mlir",
                                          descriptor, path)
                         : openOwnFile({path.data(), path.size()}, descriptor);
    name.assign(path.begin(), path.end());
    if (!error)
      stream = std::make_unique<llvm::raw_fd_ostream>(descriptor,
                                                      /*shouldClose=*/true);
  }
  StringRef description() override { return name; }
  raw_ostream &os() override { return *stream; }

  std::string name;
  std::unique_ptr<llvm::raw_fd_ostream> stream;
};

/// The file that the user named, which is complete or as it was before.
struct NamedFile : ReproducerStream {
  NamedFile(const std::string &path, Location location, std::error_code &error)
      : path(path), location(location) {
    error = file.open(path);
  }
  ~NamedFile() override {
    std::error_code error = file.append(text);
    if (!error)
      error = StreamedOutput::commit(&file).first;
    if (error)
      emitError(location) << "cannot write '" << path
                          << "': " << error.message();
  }
  StringRef description() override { return path; }
  raw_ostream &os() override { return stream; }

  std::string path, text;
  Location location;
  llvm::raw_string_ostream stream{text};
  StreamedOutput file;
};

struct NoStream : ReproducerStream {
  StringRef description() override { return ""; }
  raw_ostream &os() override { return llvm::nulls(); }
};

std::unique_ptr<ReproducerStream> openPrivate(SmallVectorImpl<char> &path,
                                              std::string &why) {
  std::error_code error;
  auto file = std::make_unique<PrivateFile>(path, error);
  if (!error)
    return file;
  why = "cannot make a file in the temporary directory: " + error.message();
  return nullptr;
}

} // namespace

LogicalResult tessera::runWithReproducer(PassManager &manager, ModuleOp module,
                                         const std::string &path) {
  Location location = module.getLoc();
  manager.enableCrashReproducerGeneration(
      [=](std::string &why) -> std::unique_ptr<ReproducerStream> {
        std::error_code error;
        auto file = std::make_unique<NamedFile>(path, location, error);
        if (!error)
          return file;
        why = "cannot write '" + path + "': " + error.message();
        return nullptr;
      });
  return manager.run(module);
}

LogicalResult tessera::runWithReproducer(PassManager &manager,
                                         ModuleOp module) {
  Failure failure;
  SmallString<128> path;
  manager.enableCrashReproducerGeneration(
      [&](std::string &why) -> std::unique_ptr<ReproducerStream> {
        if (failure.isExplained())
          return std::make_unique<NoStream>();
        return openPrivate(path, why);
      });
  // Hears of a failed pass before the generator does, which was added first.
  manager.addInstrumentation(std::make_unique<FailureObserver>(failure));
  ScopedDiagnosticHandler handler(
      module.getContext(), [&](Diagnostic &diagnostic) -> LogicalResult {
        // After the error that explains a failure the pass manager alone
        // reports something: a reproducer that was not written.
        if (failure.isExplained())
          return success();
        failure.hasErrors |=
            diagnostic.getSeverity() == DiagnosticSeverity::Error;
        return mlir::failure();
      });
  return manager.run(module);
}
