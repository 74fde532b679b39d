//===- Plan.cpp - tessera plan --------------------------------------------===//

#include "tessera/Options/PlanFlags.h"
#include "tessera/Options/PlanRules.h"
#include "tessera/Options/RateOptions.h"
#include "tessera/Page/Page.h"
#include "tessera/Plan/PlanFile.h"
#include "tessera/Planner/PlanChoice.h"
#include "tessera/Planner/PlanText.h"
#include "tessera/Predict/ClusterDevice.h"
#include "tessera/Target/OutputFile.h"
#include "tessera/Text/TextWrap.h"
#include "tools/tessera/input/CompilerContext.h"
#include "tools/tessera/input/ModelFiles.h"
#include "tools/tessera/options/Command.h"
#include "tools/tessera/options/FileChecks.h"
#include "tools/tessera/options/GroupDeclarations.h"
#include "tools/tessera/options/HelpText.h"
#include "tools/tessera/options/PlanGroup.h"
#include "tools/tessera/output/Output.h"
#include "tools/tessera/output/PrintError.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tessera;

namespace {

/// The options of tessera plan. "" means: not given.
struct PlanCommandOptions : PlanningOptions {
  std::string cluster;                ///< A file.
  std::vector<std::string> explained; ///< Two files.
  std::string output, html;           ///< Files.
  bool json = false;
};

} // namespace

/// Returns the exit code.
static int writePlan(const PlanCommandOptions &options, const PlannedStep &best,
                     const plan::SearchSpace &space,
                     const simulate::Cluster &cluster) {
  if (options.output.empty())
    return 0;
  Expected<plan::PlanFile> file =
      planFileOf(options.model, best, space, cluster);
  if (!file)
    return printError(file.takeError());
  return printIfError(writeFile(options.output, {file->json()}));
}

//===----------------------------------------------------------------------===//
// --explain
//===----------------------------------------------------------------------===//

namespace {

struct ReadPlan {
  plan::PlanFile file;
  PlanOptions plan; ///< The file's, and the rest as the command line says.
  TakenFromCluster taken;
};

} // namespace

/// Reads a plan file beside options that are given, and refuses what commands
/// with --plan refuse.
static ReadPlan readExplained(const PlanningOptions &options,
                              const std::string &path) {
  PlannedModel model = options;
  model.planFile = path;
  PlanGroup group(model);
  CLI::App app;
  app.formatter(std::make_shared<HelpFormatter>());
  group.declare(app);
  group.give(app, options.given);
  group.read(app);
  group.requireTraining();
  const TakenFromCluster taken = {!group.isGiven("--device"),
                                  !group.isGiven("--precision")};
  const GivenFlags given =
      taken.device ? group.given({FlagPurpose::Cuda}) : group.given();
  completePlan(model.plan, given);
  std::string why = checkPlan(model.plan, given);
  if (why.empty())
    why = completeRate(model.plan.learningRate, group.givenRate());
  refuseUnless(why.empty() ? why : "'" + path + "': " + why);
  return {group.file(), model.plan, taken};
}

static int explain(const PlanCommandOptions &options,
                   std::vector<ReadPlan> plans,
                   const simulate::Cluster &cluster) {
  ExplainedPlan both[2];
  for (size_t i : {0, 1}) {
    auto &[file, plan, taken] = plans[i];
    std::string why = fitCluster(plan, cluster, taken);
    if (why.empty()) {
      both[i] = {file.options, evaluatePlan(options.model, plan, cluster,
                                            Verification::AfterEachPass)};
      why = both[i].of.problem;
    }
    if (!why.empty())
      return printError("'" + options.explained[i] + "': " + why);
  }
  if (options.json)
    printJson(compareStepsJson(both[0], both[1]), 2);
  else
    standardOutput() << compareSteps(both[0], both[1], kTerminalWidth);
  return 0;
}

namespace {

class PlanCommand : public Command {
public:
  void declare(CLI::App &app) override;
  void check(CLI::App &app) override;
  int run() override;

private:
  void declareSearch(CLI::App &app);
  void checkSearch();

  PlanCommandOptions options;
  PlanGroup plan{options};
  TakenFromCluster taken;
  std::vector<ReadPlan> explained; ///< Two, or none.
};

const CommandRegistration<PlanCommand> registration(
    {90, "plan", "Search the mesh and the options of a plan for a cluster",
     " examples/gpt2-tiny --gpus 8 --global-batch 32 --cluster "
     "clusters/a100.toml"});

} // namespace

void PlanCommand::declareSearch(CLI::App &app) {
  beginGroup(app, "Search", "--gpus 64 --global-batch 512 --objective cost");
  requireCluster(app, options.cluster);
  tessera::declare(app, "--gpus", FlagCheck::Positive, options.gpus,
                   "Devices to use, of those of the cluster; of CPUs, ranks "
                   "that share their cores (default: all, and a rank for each "
                   "core)");
  app.add_option("--objective", options.objective,
                 "What to make least: time of a step, memory of a rank, or "
                 "cost: time of all devices, of which there may be fewer")
      ->check(oneOf({"time", "memory", "cost"}))
      ->type_name("time|memory|cost")
      ->capture_default_str();
  tessera::declare(app, "--global-batch", FlagCheck::Positive,
                   options.plan.sizes.batch,
                   "The same as --batch (default: as there)");
  tessera::declare(app, "--evaluations", FlagCheck::Positive,
                   options.evaluations, "Most plans that are compiled whole");
  tessera::declare(app, "--plans", FlagCheck::Positive, options.plans,
                   "Plans to print, the best ones; as many are compiled, if "
                   "they fit");
  tessera::declare(app, "--tokens", FlagCheck::Positive, options.tokens,
                   "Also say what time and energy so many tokens take "
                   "(default: it does not)");
  app.add_option("--explain", options.explained,
                 "Search nothing; compare these two plans instead")
      ->expected(2)
      ->type_name("FILE");
}

void PlanCommand::declare(CLI::App &app) {
  declareModel(app, options, ModelKinds::Sources);
  declareSearch(app);
  declareOutput(app, "json", "Write the best plan to this file, for --plan",
                options.output);
  declareJson(app, options.json);
  declarePage(app, options.html);
  // The search chooses what is recomputed.
  beginGroup(app, "Precision and memory",
             "--precision bf16 --memory-limit 16GiB");
  plan.declare(app, {ProgramSet::Train});
  declareThreads(app, options.threads);
  app.get_option("--global-batch")->excludes(app.get_option("--batch"));
  for (const char *name :
       {"--mesh", "--micro-batches", "--sequence-parallel", "--zero",
        "--schedule", "--virtual-stages", "--stages", "--context-parallel",
        "--recompute", "--bucket-size"})
    setDefault(app, name, "what is best");
  for (const char *name : {"--device", "--precision"})
    setDefault(app, name, "the cluster's");
  setDefault(app, "--batch", "none: it must be given");
  hide(*app.get_option("--programs")); // it searches a training step
}

/// The search leaves alone what is given.
void PlanCommand::checkSearch() {
  options.given = plan.givenTexts();
  const bool isSearch = options.explained.empty();
  if (!isSearch && !options.html.empty())
    refuse("--html shows the plans of a search, but --explain compares two "
           "without one; leave out one of the two");
  refuseUnless(isSearch ? refuseSearch(options) : refusePrograms(options));
}

void PlanCommand::check(CLI::App &app) {
  plan.read(app);
  taken = {!plan.isGiven("--device"), !plan.isGiven("--precision")};
  checkSearch();
  // The search checks each plan, whose mesh may have stages.
  std::vector<FlagPurpose> undecided;
  if (taken.device)
    undecided.push_back(FlagPurpose::Cuda);
  if (options.plan.mesh.axes.empty() && options.gpus != 1)
    undecided.push_back(FlagPurpose::Stages);
  const GivenFlags given = plan.given(undecided);
  completePlan(options.plan, given);
  refuseUnless(checkGiven(options.plan, given));
  plan.completeRate();
  plan.checkArtifact();
  if (const CLI::Option *batch = app.get_option("--global-batch");
      batch->count())
    options.given["--batch"] = givenText(*batch);
  for (const std::string &path : options.explained)
    explained.push_back(readExplained(options, path));
}

int PlanCommand::run() {
  if (std::string why = firstOf({findModel(options, ModelKinds::Sources),
                                 checkOutput(options.output, "plan.json"),
                                 checkOutput(options.html, "page.html")});
      !why.empty())
    return printError(why);
  Expected<simulate::Cluster> cluster = simulate::readCluster(options.cluster);
  if (!cluster)
    return printError(cluster.takeError());
  if (std::string why = fitCluster(options.plan, *cluster, taken); !why.empty())
    return printError(why);
  if (!options.explained.empty())
    return explain(options, explained, *cluster);
  if (std::string why = chooseDevices(options, *cluster); !why.empty())
    return printError(why);
  CompilerContext compiler;
  mlir::FailureOr<ModelFacts> facts =
      readFacts(compiler.context, options.model, options.plan);
  if (failed(facts))
    return 1;
  Planner planner(options, *cluster, *facts);
  Expected<PlanningResult> found = planner.run();
  if (!found)
    return printError(found.takeError());
  const PlanningResult &result = *found;
  if (result.fitting == 0)
    return printError(whyNothingFits(result, planner.searchSpace()));
  PlanText text{result, planner.searchSpace(), *cluster, options};
  const std::string &fastest = result.steps.front().plan.mesh.str();
  if (printIfError(writePage(options.html, "plan",
                             cluster->name + ": " + fastest, text.json())))
    return 1;
  if (options.json)
    printJson(text.json(), 2);
  else
    standardOutput() << text.text(kTerminalWidth * 2);
  return writePlan(options, result.steps.front(), planner.searchSpace(),
                   *cluster);
}
