//===- Report.cpp - tessera report ----------------------------------------===//

#include "tessera/Report/Report.h"
#include "tessera/Page/Page.h"
#include "tessera/Page/PassHistory.h"
#include "tessera/Target/OutputFile.h"
#include "tessera/Text/Table.h"
#include "tessera/Text/TextWrap.h"
#include "tools/tessera/input/ModelFiles.h"
#include "tools/tessera/input/OpenModel.h"
#include "tools/tessera/options/Command.h"
#include "tools/tessera/options/FileChecks.h"
#include "tools/tessera/options/GroupDeclarations.h"
#include "tools/tessera/options/PlanGroup.h"
#include "tools/tessera/output/Output.h"
#include "tools/tessera/output/PrintError.h"
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

/// Draws the schedule. Returns false after an error, which is printed.
static bool writePicture(const Report &report, const std::string &path) {
  if (!report.pipeline || report.pipeline->isInTurn())
    return !refusePicture();
  return !printIfError(writeFile(path, {report.pipeline->picture()}));
}

namespace {

class ReportCommand : public Command {
public:
  void declare(CLI::App &app) override;
  void check(CLI::App &app) override { plan.check(app); }
  int run() override;

private:
  size_t columns() const;
  bool readArtifact(Report &report) const;
  bool readModel(Report &report, PassHistory &passes) const;

  PlannedModel options;
  PlanGroup plan{options};
  bool json = false, wide = false; ///< wide: all columns.
  std::string scheduleSvg, html;   ///< Files.
};

const CommandRegistration<ReportCommand>
    registration({60, "report",
                  "Parameters, flops, memory and communication, before any run",
                  " examples/gpt2-tiny --mesh dp=2,tp=2"});

} // namespace

void ReportCommand::declare(CLI::App &app) {
  declareModel(app, options, ModelKinds::SourcesAndArtifacts);
  beginGroup(app, "Output", "--wide --schedule-svg schedule.svg");
  app.add_flag("--wide", wide,
               "All columns, whatever the width of the terminal");
  app.add_option("--schedule-svg", scheduleSvg,
                 "Draw the schedule of pipeline stages into this file")
      ->type_name("FILE");
  declareJson(app, json);
  declarePage(app, html);
  plan.declare(app);
  plan.declareRanks(app);
  plan.declarePlanFile(app);
}

/// Returns those of the terminal, if it is one.
size_t ReportCommand::columns() const {
  if (wide)
    return Table::kAnyWidth;
  unsigned terminal = sys::Process::StandardOutColumns();
  return terminal ? std::max(terminal, kFewestColumns) : kTerminalWidth;
}

bool ReportCommand::readArtifact(Report &report) const {
  ArtifactFile artifact;
  if (!openArtifact(options, artifact, report))
    return false;
  report.signer = artifact.signer();
  return true;
}

/// Makes no code, because a report says nothing of it.
bool ReportCommand::readModel(Report &report, PassHistory &passes) const {
  PassObserver observer;
  if (!html.empty())
    observer = [&](StringRef pass, StringRef what, mlir::ModuleOp module) {
      passes.add(pass, what, module);
    };
  std::optional<std::string> metadata = describeModel(options, observer);
  return metadata && !printIfError(report.read(*metadata));
}

int ReportCommand::run() {
  if (std::string why =
          firstOf({findModel(options, ModelKinds::SourcesAndArtifacts),
                   checkOutput(scheduleSvg, "schedule.svg"),
                   checkOutput(html, "page.html")});
      !why.empty())
    return printError(why);
  bool isConfig = !options.isArtifact() && !options.isProgram();
  if (isConfig && !scheduleSvg.empty() &&
      options.plan.mesh.sizeOf(MeshAxis::Pipeline) == 1)
    return refusePicture();
  Report report;
  PassHistory passes;
  if (!(options.isArtifact() ? readArtifact(report)
                             : readModel(report, passes)))
    return 1;
  if (!scheduleSvg.empty() && !writePicture(report, scheduleSvg))
    return 1;
  if (!html.empty() &&
      printIfError(
          writePage(html, {"report", report.headline(), report.json(),
                           options.isArtifact() ? nullptr : passes.json()})))
    return 1;
  if (json)
    printJson(report.json(), 2);
  else
    standardOutput() << report.text(columns());
  return 0;
}
