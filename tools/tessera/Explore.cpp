//===- Explore.cpp - tessera explore --------------------------------------===//

#include "tessera/Simulate/Simulate.h"
#include "tools/tessera/Commands.h"
#include "tools/tessera/explore/Answers.h"
#include "tools/tessera/explore/PageServer.h"
#include "tools/tessera/input/CompileModel.h"
#include "tools/tessera/page/Page.h"
#include "tools/tessera/passes/PassHistory.h"
#include "tools/tessera/report/Output.h"
#include "tools/tessera/report/PrintError.h"
#include "tools/tessera/report/Report.h"
#include "tools/tessera/simulate/Prediction.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tessera;

/// The simulated step as `tessera simulate --json` has it, or why the cluster
/// cannot run it; nothing after an error that has been printed.
static std::optional<json::Value>
simulated(StringRef metadata, const Report &report, const std::string &path) {
  Expected<simulate::Cluster> cluster = simulate::readCluster(path);
  if (!cluster) {
    printError(toString(cluster.takeError()));
    return std::nullopt;
  }
  Expected<simulate::Program> program =
      simulate::readStep(metadata, report.program);
  if (!program) {
    printError(toString(program.takeError()));
    return std::nullopt;
  }
  *cluster = cluster->sharedBy(program->ranks());
  Expected<simulate::StepTimes> times =
      simulate::simulate(*program, *cluster, /*keepsSpans=*/true);
  if (!times)
    return json::Object{{"error", json::fixUTF8(toString(times.takeError()))}};
  return Prediction{*program, *cluster, *times}.json();
}

/// All that the page shows, of one plan.
static int showOnce(const DriverOptions &options) {
  PassHistory passes;
  std::optional<std::string> metadata = describeModel(
      options, [&](StringRef pass, StringRef what, mlir::ModuleOp module) {
        passes.add(pass, what, module);
      });
  Report report;
  if (!metadata || !report.read(*metadata))
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
  return !writePage(options.html, "explore", report.headline(), value);
}

int tessera::runExplore(const DriverOptions &options) {
  if (options.json || !options.html.empty())
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
      servePage(service, options.explore.port, [](const std::string &address) {
        standardOutput() << "open " << address
                         << "  (Ctrl-C ends the server)\n";
        flushOutput();
      });
  return error.empty() ? 0 : printError(error);
}
