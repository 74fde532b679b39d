//===- Plan.cpp - tessera plan --------------------------------------------===//

#include "tessera/Options/Counted.h"
#include "tessera/Options/PlanFlags.h"
#include "tessera/Plan/PlanFile.h"
#include "tessera/Target/OutputFile.h"
#include "tools/tessera/Commands.h"
#include "tools/tessera/options/TextWrap.h"
#include "tools/tessera/page/Page.h"
#include "tools/tessera/plan/PlanText.h"
#include "tools/tessera/report/Output.h"
#include "tools/tessera/report/PrintError.h"
#include "tools/tessera/simulate/ClusterDevice.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tessera;

/// Prints an error and returns false where the cluster is too small. The ranks
/// of a CPU, as many as one likes, share its cores.
static bool checkDevices(DriverOptions &options,
                         const simulate::Cluster &cluster) {
  int64_t &wanted = options.planning.gpus;
  if (cluster.kind == DeviceKind::Cpu) {
    wanted = wanted ? wanted : cluster.nodes * cluster.coresPerNode;
    return true;
  }
  int64_t all = cluster.nodes * cluster.devicesPerNode;
  if (!wanted)
    wanted = all;
  if (wanted <= all)
    return true;
  return !printError("a plan for " + counted(wanted, "device") +
                     " is asked for, but the cluster '" + cluster.name +
                     "' has " + counted(all, "device") + "; use --gpus " +
                     std::to_string(all) + " or raise 'nodes.count'");
}

/// Options of a plan as the command line has them, with a space before each.
static std::string wordsOf(const PlanOptions &plan,
                           const plan::SearchSpace &space) {
  std::string words;
  for (const auto &[name, text] : plan::chosenOptions(space, plan))
    words += text == "true"    ? " --" + name
             : text == "false" ? " --no-" + name
                               : " --" + name + " " + text;
  return words;
}

/// Says what is nearest where nothing fits; 1.
static int explainNothing(const PlanningResult &result,
                          const plan::SearchSpace &space) {
  if (result.steps.empty()) {
    std::string text =
        formatv("no plan for {0} and a batch of {1} is found",
                counted(space.ranks, "device"), space.base.sizes.batch);
    if (!result.problem.empty())
      text += ", e.g.: " + result.problem;
    return printError(text);
  }
  const PlannedStep &nearest = result.steps.front();
  auto limit = static_cast<int64_t>(result.memoryLimit);
  return printError(formatv(
      "no plan fits into {0} bytes; the nearest needs {1} bytes, {2} more:{3}; "
      "use more devices or shorter sequences",
      limit, nearest.of.bytes, nearest.of.bytes - limit,
      wordsOf(nearest.plan, space)));
}

/// Returns the exit code.
static int writePlan(const DriverOptions &options, const PlannedStep &best,
                     const plan::SearchSpace &space,
                     const simulate::Cluster &cluster) {
  if (options.output.empty())
    return 0;
  plan::PlanFile file;
  if (std::string why = plan::identify(options.model, file.model); !why.empty())
    return printError(why);
  file.options = plan::chosenOptions(space, best.plan);
  file.cluster = cluster.name;
  file.stepSeconds = best.of.seconds;
  file.memoryBytes = best.of.bytes;
  if (std::error_code error = writeOutput(options.output, {file.json()}))
    return printError("cannot write '" + options.output +
                      "': " + error.message());
  return 0;
}

//===----------------------------------------------------------------------===//
// --explain
//===----------------------------------------------------------------------===//

/// Sets the options of a plan file. Prints errors and returns false.
static bool applyFile(const std::string &path, const std::string &model,
                      plan::PlanFile &file, PlanOptions &plan) {
  std::string why = plan::readPlan(path, file);
  if (why.empty())
    why = plan::checkModel(file, path, model);
  for (const auto &[name, text] : file.options) {
    if (!why.empty())
      break;
    why = setPlannedFlag(plan, name, text);
    if (!why.empty())
      why = "'" + path + "': " + why;
  }
  return why.empty() || !printError(why);
}

static int explain(const DriverOptions &options,
                   const simulate::Cluster &cluster) {
  ExplainedPlan both[2];
  for (size_t i : {0, 1}) {
    plan::PlanFile file;
    PlanOptions plan = options.plan;
    const std::string &path = options.planning.explained[i];
    if (!applyFile(path, options.model, file, plan))
      return 1;
    plan.evaluation = false;
    both[i] = {file.options, evaluatePlan(options.model, plan, cluster,
                                          Verification::AfterEachPass)};
    if (!both[i].of.problem.empty())
      return printError("'" + path + "': " + both[i].of.problem);
  }
  if (options.json)
    printJson(compareStepsJson(both[0], both[1]), 2);
  else
    standardOutput() << compareSteps(both[0], both[1], kTerminalWidth);
  return 0;
}

int tessera::runPlan(const DriverOptions &given) {
  if (given.isProgram())
    return printError("'" + given.model +
                      "' is a program with a batch of its own, which plans "
                      "would cut in different ways; give the config.json");
  Expected<simulate::Cluster> cluster = simulate::readCluster(given.cluster);
  if (!cluster)
    return printError(toString(cluster.takeError()));
  std::optional<DriverOptions> taken = optionsFor(*cluster, given);
  if (!taken)
    return 1;
  DriverOptions &options = *taken;
  if (!options.planning.explained.empty())
    return explain(options, *cluster);
  ModelFacts facts;
  if (!checkDevices(options, *cluster) ||
      !readFacts(options.model, options.plan, facts))
    return 1;
  Planner planner(options, *cluster, facts);
  std::optional<PlanningResult> found = planner.run();
  if (!found)
    return 1;
  const PlanningResult &result = *found;
  if (result.fitting == 0)
    return explainNothing(result, planner.searchSpace());
  PlanText text{result, planner.searchSpace(), *cluster, options.planning};
  const std::string &fastest = result.steps.front().plan.mesh.str();
  if (!writePage(options.html, "plan", cluster->name + ": " + fastest,
                 text.json()))
    return 1;
  if (options.json)
    printJson(text.json(), 2);
  else
    standardOutput() << text.text(kTerminalWidth * 2);
  return writePlan(options, result.steps.front(), planner.searchSpace(),
                   *cluster);
}
