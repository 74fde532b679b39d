//===- Reproducer.cpp - the input of a pass that crashed ------------------===//

#include "lib/Pipelines/Reproducer.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tessera;

namespace {

/// What is known of a failure. A crashed pass reports nothing: neither that it
/// failed nor why.
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

struct FileStream : ReproducerStream {
  FileStream(StringRef path, std::error_code &error)
      : path(path), stream(path, error) {}
  StringRef description() override { return path; }
  raw_ostream &os() override { return stream; }

  std::string path;
  llvm::raw_fd_ostream stream;
};

struct NoStream : ReproducerStream {
  StringRef description() override { return ""; }
  raw_ostream &os() override { return llvm::nulls(); }
};

ReproducerStreamFactory streamFactory(const std::string &path,
                                      const Failure &failure) {
  return [=, &failure](std::string &why) -> std::unique_ptr<ReproducerStream> {
    if (failure.isExplained())
      return std::make_unique<NoStream>();
    std::error_code error;
    auto file = std::make_unique<FileStream>(path, error);
    if (!error)
      return file;
    why = "cannot write '" + path + "': " + error.message();
    return nullptr;
  };
}

} // namespace

LogicalResult tessera::runWithReproducer(PassManager &manager, ModuleOp module,
                                         const std::string &path,
                                         ReproducerPolicy policy) {
  if (policy == ReproducerPolicy::Always) {
    manager.enableCrashReproducerGeneration(path);
    return manager.run(module);
  }
  Failure failure;
  manager.enableCrashReproducerGeneration(streamFactory(path, failure));
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
