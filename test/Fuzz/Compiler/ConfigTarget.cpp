//===- ConfigTarget.cpp - config.json of a model --------------------------===//
#include "test/Fuzz/Input.h"

#include "mlir/IR/MLIRContext.h"
#include "tessera/Import/Import.h"

using namespace mlir;
using namespace tessera;
using namespace fuzzed;

/// Imports a config. A refusal must say why, and where in the file.
static void import(const std::string &path, const ImportOptions &options) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  bool hasError = false;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    hasError |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
    require(!diagnostic.str().empty(), "a diagnostic says something");
    require(isa<FileLineColLoc>(diagnostic.getLocation()),
            "a diagnostic has a place in the file");
    return success();
  });
  auto module = importModel(&context, path, options);
  require(failed(module) == hasError, "a refusal says why");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  MemoryFile file({reinterpret_cast<const char *>(data), size});
  ImportOptions options;
  import(file.path(), options);
  options.precision = Precision::F64;
  options.shrink.emplace();
  options.shrink->tensorRanks = 2;
  import(file.path(), options);
  return 0;
}
