//===- Report.cpp - tessera report ----------------------------------------===//

#include "tools/tessera/report/Report.h"
#include "tessera/Target/OutputFile.h"
#include "tools/tessera/Commands.h"
#include "tools/tessera/input/ArtifactFile.h"
#include "tools/tessera/input/CompileModel.h"
#include "tools/tessera/options/TextWrap.h"
#include "tools/tessera/page/Page.h"
#include "tools/tessera/passes/PassHistory.h"
#include "tools/tessera/report/Output.h"
#include "tools/tessera/report/PrintError.h"
#include "tools/tessera/report/Table.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tessera;

/// In fewer columns numbers are no longer read.
static constexpr unsigned kFewestColumns = 60;

static int refusePicture() {
  return printError("--schedule-svg draws the schedule of pipeline stages, but "
                    "the program has none; use a mesh with an axis pp, e.g. "
                    "--mesh pp=2, and --programs train, or leave it out");
}

/// False after an error that has been printed.
static bool writePicture(const Report &report, const std::string &path) {
  if (!report.pipeline || report.pipeline->isInTurn())
    return !refusePicture();
  if (std::error_code error = writeOutput(path, {report.pipeline->picture()}))
    return !printError("cannot write '" + path + "': " + error.message());
  return true;
}

/// Those of the terminal, if it is one.
static size_t columns(const DriverOptions &options) {
  if (options.wide)
    return Table::kAnyWidth;
  unsigned terminal = sys::Process::StandardOutColumns();
  return terminal ? std::max(terminal, kFewestColumns) : kTerminalWidth;
}

static bool readArtifact(Report &report, const DriverOptions &options) {
  ArtifactFile artifact;
  if (!artifact.open(options) || !report.read(artifact.metadata()))
    return false;
  report.signer = artifact.signer();
  return true;
}

/// Without making code, of which a report says nothing.
static bool readModel(Report &report, PassHistory &passes,
                      const DriverOptions &options) {
  PassObserver observer;
  if (!options.html.empty())
    observer = [&](StringRef pass, StringRef what, mlir::ModuleOp module) {
      passes.add(pass, what, module);
    };
  std::optional<std::string> metadata = describeModel(options, observer);
  return metadata && report.read(*metadata);
}

int tessera::runReport(const DriverOptions &options) {
  bool isConfig = !options.isArtifact() && !options.isProgram();
  if (isConfig && !options.scheduleSvg.empty() &&
      options.plan.mesh.sizeOf(MeshAxis::Pipeline) == 1)
    return refusePicture();
  Report report;
  PassHistory passes;
  if (!(options.isArtifact() ? readArtifact(report, options)
                             : readModel(report, passes, options)))
    return 1;
  if (!options.scheduleSvg.empty() &&
      !writePicture(report, options.scheduleSvg))
    return 1;
  if (!options.html.empty() &&
      !writePage(options.html,
                 {"report", report.headline(), report.json(),
                  options.isArtifact() ? nullptr : passes.json()}))
    return 1;
  if (options.json)
    printJson(report.json(), 2);
  else
    standardOutput() << report.text(columns(options));
  return 0;
}
