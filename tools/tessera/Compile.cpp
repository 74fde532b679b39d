//===- Compile.cpp - tessera compile --------------------------------------===//

#include "tools/tessera/Commands.h"
#include "tools/tessera/input/ArtifactFile.h"
#include "tools/tessera/input/CompileModel.h"
#include "tools/tessera/report/Output.h"
#include "tools/tessera/report/PrintError.h"
#include "tools/tessera/report/Report.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace tessera;

int tessera::runCompile(const DriverOptions &options) {
  if (options.isArtifact())
    return printError("'" + options.model +
                      "' is compiled already; give the config.json that it was "
                      "made of, or run it: tessera train");
  std::string output = options.output.empty() ? "model.tsr" : options.output;
  auto start = std::chrono::steady_clock::now();
  if (!compileModel(options, output))
    return 1;
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  // A device or a pipe cannot be read again.
  if (!llvm::sys::fs::is_regular_file(output))
    return 0;
  ArtifactFile artifact;
  Report report;
  if (!artifact.load(output) || !report.readHeadline(artifact.metadata()))
    return 1;
  standardOutput() << "wrote " << printable(output) << ": " << report.headline()
                   << " (" << llvm::formatv("{0:f1}", seconds.count())
                   << " s)\n";
  return 0;
}
