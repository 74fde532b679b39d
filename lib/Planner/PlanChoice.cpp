//===- PlanChoice.cpp - before and after a search -------------------------===//

#include "tessera/Planner/PlanChoice.h"
#include "tessera/Options/Counted.h"
#include "llvm/Support/FormatVariadic.h"

using namespace tessera;

std::string tessera::refusePrograms(const PlanningOptions &options) {
  return options.given.count("--programs") ||
                 options.plan.memory.recompute == Recompute::Auto
             ? "tessera plan searches plans for training, and ways to "
               "recompute itself; leave out --programs and --recompute auto"
             : "";
}

/// A mesh that is given has all devices that are used.
static std::string takeMesh(PlanningOptions &options) {
  const MeshShape &mesh = options.plan.mesh;
  if (!options.given.count("--mesh"))
    return "";
  if (options.gpus && mesh.ranks() != options.gpus)
    return "--mesh " + mesh.str() + " has " + std::to_string(mesh.ranks()) +
           " ranks, but --gpus says " + std::to_string(options.gpus) +
           "; leave out one of the two";
  options.gpus = mesh.ranks();
  return "";
}

std::string tessera::refuseSearch(PlanningOptions &options) {
  const std::string &objective = options.objective;
  if (options.isProgram())
    return "'" + options.model +
           "' is a program with a batch of its own, which plans would cut in "
           "different ways; give the config.json";
  if (objective != "time" && objective != "memory" && objective != "cost")
    return "the objective '" + objective +
           "' of a search is not known; use time, memory or cost";
  if (!options.plan.sizes.batch)
    return "the number of sequences in a step is not searched, as it changes "
           "what is learnt; give --global-batch";
  std::string why = refusePrograms(options);
  return why.empty() ? takeMesh(options) : why;
}

std::string tessera::chooseDevices(PlanningOptions &options,
                                   const simulate::Cluster &cluster) {
  int64_t &wanted = options.gpus;
  if (cluster.kind == DeviceKind::Cpu) {
    wanted = wanted ? wanted : cluster.nodes * cluster.coresPerNode;
    return "";
  }
  int64_t all = cluster.nodes * cluster.devicesPerNode;
  if (!wanted)
    wanted = all;
  if (wanted <= all)
    return "";
  return "a plan for " + counted(wanted, "device") +
         " is asked for, but the cluster '" + cluster.name + "' has " +
         counted(all, "device") + "; use --gpus " + std::to_string(all) +
         " or raise 'nodes.count'";
}

/// Returns options of a plan as the command line has them, with a space before
/// each.
static std::string wordsOf(const PlanOptions &plan,
                           const plan::SearchSpace &space) {
  std::string words;
  for (const auto &[name, text] : plan::chosenOptions(space, plan))
    words += text == "true"    ? " --" + name
             : text == "false" ? " --no-" + name
                               : " --" + name + " " + text;
  return words;
}

std::string tessera::whyNothingFits(const PlanningResult &result,
                                    const plan::SearchSpace &space) {
  if (result.steps.empty()) {
    std::string text =
        llvm::formatv("no plan for {0} and a batch of {1} is found",
                      counted(space.ranks, "device"), space.base.sizes.batch);
    return result.problem.empty() ? text : text + ", e.g.: " + result.problem;
  }
  const PlannedStep &nearest = result.steps.front();
  auto limit = static_cast<int64_t>(result.memoryLimit);
  return llvm::formatv(
      "no plan fits into {0} bytes; the nearest needs {1} bytes, {2} more:{3}; "
      "use more devices or shorter sequences",
      limit, nearest.of.bytes, nearest.of.bytes - limit,
      wordsOf(nearest.plan, space));
}

llvm::Expected<plan::PlanFile>
tessera::planFileOf(const std::string &path, const PlannedStep &step,
                    const plan::SearchSpace &space,
                    const simulate::Cluster &cluster) {
  plan::PlanFile file;
  if (std::string why = plan::identify(path, file.model); !why.empty())
    return llvm::createStringError(why);
  file.options = plan::chosenOptions(space, step.plan);
  file.cluster = cluster.name;
  file.stepSeconds = step.of.seconds;
  file.memoryBytes = step.of.bytes;
  return file;
}
