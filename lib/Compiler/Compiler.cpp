//===- Compiler.cpp - a model and its plan --------------------------------===//

#include "lib/Compiler/Compiler.h"
#include "tessera/Options/OptimizerDefaults.h"
#include "tessera/Options/PlanRules.h"
#include "tessera/Options/RateOptions.h"
#include "tessera/Pipelines/CompileModel.h"
#include "tessera/Pipelines/EmitError.h"
#include "tessera/Planner/PlanChoice.h"
#include "tessera/Planner/PlanText.h"
#include "tessera/Predict/Prediction.h"
#include "tessera/Predict/SimulatedStep.h"
#include "tessera/Target/OutputFile.h"
#include "tessera/Verify/Verify.h"

using namespace mlir;
using namespace tessera;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

namespace {

/// A context whose first error is kept, and whose notes are told.
class QuietContext {
public:
  explicit QuietContext(const Progress &listener)
      : context(dialects()), handler(&context, [&](Diagnostic &diagnostic) {
          add(diagnostic, listener);
          return success();
        }) {
    context.printOpOnDiagnostic(false); // an error is a line, and no module
  }

  /// Returns the error of what has failed.
  llvm::Error error() const {
    return llvm::createStringError(
        first.empty() ? "the compiler has failed without a reason" : first);
  }

private:
  static DialectRegistry dialects() {
    DialectRegistry registry;
    registerCompilerDialects(registry);
    return registry;
  }
  void add(Diagnostic &diagnostic, const Progress &listener) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error) {
      if (first.empty())
        first = errorText(diagnostic);
    } else if (listener) {
      listener(errorText(diagnostic));
    }
  }

  std::string first;

public:
  MLIRContext context;

private:
  ScopedDiagnosticHandler handler;
};

} // namespace

/// Returns nothing for "", which means that nothing is wrong.
static llvm::Error errorOf(const std::string &why) {
  return why.empty() ? llvm::Error::success() : llvm::createStringError(why);
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

llvm::Error Compiler::set(const std::string &name, const std::string &text) {
  plan::PlanFile one;
  one.options = {{name, text}};
  return take(std::move(one));
}

llvm::Error Compiler::take(plan::PlanFile file) {
  PlanOptions plan = model.plan;
  for (const auto &[name, text] : file.options)
    if (std::string why = setPlannedFlag(plan, name, text); !why.empty())
      return llvm::createStringError(why);
  model.plan = std::move(plan);
  for (const auto &[name, text] : file.options)
    texts[name] = text;
  // Predictions are of these options alone.
  found =
      texts.size() == file.options.size() ? std::move(file) : plan::PlanFile();
  return llvm::Error::success();
}

llvm::Error Compiler::loadPlan(const std::string &path) {
  plan::PlanFile file;
  std::string why = plan::readPlan(path, file);
  if (why.empty())
    why = plan::checkModel(file, path, model.model);
  for (const auto &[name, text] : file.options)
    if (auto known = texts.find(name);
        why.empty() && known != texts.end() && known->second != text)
      why = "'" + path + "' says " + name + " " + text + ", but " +
            known->second + " is set; leave out one of the two";
  if (!why.empty())
    return llvm::createStringError(why);
  if (llvm::Error error = take(std::move(file)))
    return llvm::createStringError("'" + path +
                                   "': " + llvm::toString(std::move(error)));
  return llvm::Error::success();
}

llvm::Error Compiler::savePlan(const std::string &path) const {
  plan::PlanFile file = found;
  if (std::string why = plan::identify(model.model, file.model); !why.empty())
    return llvm::createStringError(why);
  file.options.assign(texts.begin(), texts.end());
  return writeFile(path, {file.json()});
}

GivenFlags Compiler::given() const {
  GivenFlags flags;
  for (const auto &[name, text] : texts)
    flags.insert("--" + name);
  return flags;
}

TakenFromCluster Compiler::taken() const {
  return {!texts.count("device"), !texts.count("precision")};
}

/// Completes a plan as the driver does.
static llvm::Error finish(PlanOptions &plan, const GivenFlags &given) {
  completePlan(plan, given);
  if (std::string why = checkPlan(plan, given); !why.empty())
    return llvm::createStringError(why);
  plan.optimizer = completed(plan.optimizer);
  return errorOf(completeRate(plan.learningRate, given));
}

llvm::Expected<PlannedModel> Compiler::planned() const {
  PlannedModel finished = model;
  if (llvm::Error error = finish(finished.plan, given()))
    return error;
  return finished;
}

static void leaveOut(GivenFlags &flags, FlagPurpose purpose) {
  for (const std::string &name : flagsFor(purpose))
    flags.erase(name);
}

GivenFlags Compiler::givenForCluster() const {
  GivenFlags flags = given();
  if (taken().device)
    leaveOut(flags, FlagPurpose::Cuda);
  return flags;
}

llvm::Expected<PlannedModel>
Compiler::plannedFor(const simulate::Cluster &cluster) const {
  PlannedModel finished = model;
  if (llvm::Error error = finish(finished.plan, givenForCluster()))
    return error;
  if (std::string why = fitCluster(finished.plan, cluster, taken());
      !why.empty())
    return llvm::createStringError(why);
  return finished;
}

llvm::Expected<PlanningOptions>
Compiler::searchFor(const PlanningOptions &search,
                    const simulate::Cluster &cluster) const {
  PlanningOptions options = search;
  static_cast<PlannedModel &>(options) = model;
  for (const auto &[name, text] : texts)
    options.given["--" + name] = text;
  options.progress = listener;
  if (std::string why = refuseSearch(options); !why.empty())
    return llvm::createStringError(why);
  GivenFlags flags = givenForCluster();
  // The mesh that is found may have stages.
  if (options.plan.mesh.axes.empty() && options.gpus != 1)
    leaveOut(flags, FlagPurpose::Stages);
  completePlan(options.plan, flags);
  std::string why = checkGiven(options.plan, flags);
  if (why.empty())
    why = completeRate(options.plan.learningRate, flags);
  if (why.empty())
    why = fitCluster(options.plan, cluster, taken());
  if (why.empty())
    why = chooseDevices(options, cluster);
  if (!why.empty())
    return llvm::createStringError(why);
  return options;
}

llvm::Expected<json::Value> Compiler::findPlan(const PlanningOptions &search,
                                               const std::string &clusterFile) {
  llvm::Expected<simulate::Cluster> cluster =
      simulate::readCluster(clusterFile);
  if (!cluster)
    return cluster.takeError();
  llvm::Expected<PlanningOptions> options = searchFor(search, *cluster);
  if (!options)
    return options.takeError();
  QuietContext quiet(listener);
  FailureOr<ModelFacts> facts =
      readFacts(quiet.context, options->model, options->plan);
  if (failed(facts))
    return quiet.error();
  Planner planner(*options, *cluster, *facts);
  llvm::Expected<PlanningResult> result = planner.run();
  if (!result)
    return result.takeError();
  const plan::SearchSpace &space = planner.searchSpace();
  if (result->fitting == 0)
    return llvm::createStringError(whyNothingFits(*result, space));
  llvm::Expected<plan::PlanFile> file =
      planFileOf(model.model, result->steps.front(), space, *cluster);
  if (!file)
    return file.takeError();
  if (llvm::Error error = take(std::move(*file)))
    return error;
  return PlanText{*result, space, *cluster, *options}.json();
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

static llvm::Expected<std::string> describe(QuietContext &quiet,
                                            const PlannedModel &model) {
  FailureOr<std::string> metadata = describeModel(quiet.context, model);
  if (failed(metadata))
    return quiet.error();
  return *metadata;
}

llvm::Expected<json::Value> Compiler::report() const {
  llvm::Expected<PlannedModel> options = planned();
  if (!options)
    return options.takeError();
  QuietContext quiet(listener);
  llvm::Expected<std::string> metadata = describe(quiet, *options);
  if (!metadata)
    return metadata.takeError();
  Report report;
  if (llvm::Error error = report.read(*metadata))
    return error;
  return report.json();
}

llvm::Expected<json::Value>
Compiler::simulate(const std::string &clusterFile) const {
  llvm::Expected<simulate::Cluster> cluster =
      simulate::readCluster(clusterFile);
  if (!cluster)
    return cluster.takeError();
  llvm::Expected<PlannedModel> options = plannedFor(*cluster);
  if (!options)
    return options.takeError();
  QuietContext quiet(listener);
  llvm::Expected<std::string> metadata = describe(quiet, *options);
  if (!metadata)
    return metadata.takeError();
  Report report;
  if (llvm::Error error = report.readWithoutCalls(*metadata))
    return error;
  llvm::Expected<SimulatedStep> step =
      simulateStep(*metadata, report, *cluster, SimulatedStep::Spans::Kept);
  if (!step)
    return step.takeError();
  Prediction prediction{step->program, step->cluster, step->times};
  if (!step->cluster.software.memory)
    return prediction.json();
  FailureOr<SoftwareMemory> memory = softwareMemory(
      quiet.context, *options, step->program.precision, step->cluster, report);
  if (failed(memory))
    return quiet.error();
  prediction.softwareMemory = &*memory;
  return prediction.json();
}

llvm::Expected<VerifiedPlan> Compiler::verify() const {
  llvm::Expected<PlannedModel> options = planned();
  if (!options)
    return options.takeError();
  QuietContext quiet(listener);
  FailureOr<std::vector<Verdict>> verdicts =
      verifyModel(quiet.context, *options, listener);
  if (failed(verdicts))
    return quiet.error();
  return VerifiedPlan{firstFailure(*verdicts) == nullptr,
                      verdictsJson(*verdicts)};
}

llvm::Error Compiler::compile(const std::string &path) const {
  llvm::Expected<PlannedModel> options = planned();
  if (!options)
    return options.takeError();
  QuietContext quiet(listener);
  if (failed(compileModel(quiet.context, *options, path)))
    return quiet.error();
  return llvm::Error::success();
}
