//===- Explore.cpp - tessera explore --------------------------------------===//

#include "tessera/Page/Page.h"
#include "tessera/Page/PassHistory.h"
#include "tessera/Predict/Prediction.h"
#include "tessera/Report/Report.h"
#include "tessera/Simulate/Simulate.h"
#include "tools/tessera/explore/Answers.h"
#include "tools/tessera/explore/PageServer.h"
#include "tools/tessera/input/ModelFiles.h"
#include "tools/tessera/input/OpenModel.h"
#include "tools/tessera/options/Command.h"
#include "tools/tessera/options/FileChecks.h"
#include "tools/tessera/options/GroupDeclarations.h"
#include "tools/tessera/options/PlanGroup.h"
#include "tools/tessera/output/Output.h"
#include "tools/tessera/output/PrintError.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tessera;

/// Returns the simulated step as `tessera simulate --json` has it, or why the
/// cluster cannot run it; nothing after an error that has been printed.
static std::optional<json::Value>
simulated(StringRef metadata, const Report &report, const std::string &path) {
  Expected<simulate::Cluster> cluster = simulate::readCluster(path);
  if (!cluster) {
    printError(cluster.takeError());
    return std::nullopt;
  }
  Expected<simulate::Program> program =
      simulate::readStep(metadata, report.program);
  if (!program) {
    printError(program.takeError());
    return std::nullopt;
  }
  *cluster = cluster->sharedBy(program->ranks());
  Expected<simulate::StepTimes> times =
      simulate::simulate(*program, *cluster, /*keepsSpans=*/true);
  if (!times)
    return json::Object{{"error", json::fixUTF8(toString(times.takeError()))}};
  return Prediction{*program, *cluster, *times}.json();
}

/// Prints or writes all that the page shows, of one plan. Returns the exit
/// code.
static int showOnce(const ExploreOptions &options) {
  PassHistory passes;
  std::optional<std::string> metadata = describeModel(
      options, [&](StringRef pass, StringRef what, mlir::ModuleOp module) {
        passes.add(pass, what, module);
      });
  Report report;
  if (!metadata || printIfError(report.read(*metadata)))
    return 1;
  json::Object data{{"report", report.json()}, {"passes", passes.json()}};
  if (const std::string &cluster = options.cluster; !cluster.empty()) {
    std::optional<json::Value> step = simulated(*metadata, report, cluster);
    if (!step)
      return 1;
    data["simulate"] = std::move(*step);
  }
  json::Value value(std::move(data));
  if (options.json)
    printJson(value);
  return printIfError(
      writePage(options.html, "explore", report.headline(), value));
}

namespace {

class Explore : public Command {
public:
  void declare(CLI::App &app) override;
  void check(CLI::App &app) override;
  int run() override;

private:
  bool isServed() const { return !options.json && options.html.empty(); }

  ExploreOptions options;
  PlanGroup plan{options};
};

const CommandRegistration<Explore>
    registration({100, "explore",
                  "Look at a model in a browser, with another mesh at a click",
                  " examples/gpt2-tiny --mesh dp=2,tp=2"});

} // namespace

void Explore::declare(CLI::App &app) {
  declareModel(app, options, ModelKinds::Sources);
  beginGroup(app, "Simulation", "--cluster clusters/a100.toml");
  declareCluster(app,
                 "Also simulate each step on these devices and links, a file "
                 "of TOML (docs/Simulation.md)",
                 options.cluster);
  beginGroup(app, "Output", "--port 8080");
  tessera::declare(app, "--port", FlagCheck::NotNegative, options.port,
                   "Where the page is served, on 127.0.0.1 alone; 0: any free "
                   "port");
  CLI::Option *html =
      app.add_option("--html", options.html,
                     "Write the page to this file and serve nothing")
          ->type_name("FILE");
  app.add_flag("--json", options.json,
               "Print the page's data and serve nothing")
      ->excludes(html);
  // A page that is served would write them again with every change.
  beginGroup(app, "Debugging", "--html page.html --dump-ir ir");
  plan.declare(app);
  plan.declareRanks(app);
}

void Explore::check(CLI::App &app) {
  plan.read(app);
  requireOneProcess(app);
  if (options.isArtifact())
    refuse("'" + options.model +
           "' is compiled already: its mesh cannot change, and it does not "
           "hold the program after each pass; give the config.json that it was "
           "made of, or use tessera report, which writes its page with --html");
  if (options.port > 65535)
    refuse("--port: must be a number from 0 to 65535, but is " +
           std::to_string(options.port));
  CommandEntry command = commandEntry(app, "explore");
  for (OptionEntry &entry : command.options)
    if (plan.isChoice(entry.names.front()))
      options.choices.push_back(std::move(entry));
  options.given = plan.givenTexts();
  if (!options.plan.mesh.axes.empty())
    options.given["--mesh"] = options.plan.mesh.str();
  if (std::string path = plan.givenPath(); !path.empty() && isServed())
    refuse(path + " would be written again with every change; give it to "
                  "tessera report");
  plan.check();
}

int Explore::run() {
  if (std::string why = firstOf({findModel(options, ModelKinds::Sources),
                                 checkOutput(options.html, "page.html")});
      !why.empty())
    return printError(why);
  if (!isServed())
    return showOnce(options);
  Answers answers(options);
  PageService service;
  json::Value data = answers.choices();
  service.page = pageOf({"explore", "tessera explore", data, nullptr,
                         /*isServed=*/true});
  service.answer = [&](const std::string &body, const IsAwaited &isAwaited) {
    return answers.to(body, isAwaited);
  };
  std::string error =
      servePage(service, options.port, [](const std::string &address) {
        standardOutput() << "open " << address
                         << "  (Ctrl-C ends the server)\n";
        flushOutput();
      });
  return error.empty() ? 0 : printError(error);
}
