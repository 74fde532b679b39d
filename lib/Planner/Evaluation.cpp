//===- Evaluation.cpp - what a plan needs and how long it takes -----------===//

#include "tessera/Planner/Evaluation.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Import/Import.h"
#include "tessera/Options/OptimizerDefaults.h"
#include "tessera/Options/PlanRules.h"
#include "tessera/Pipelines/Compile.h"
#include "tessera/Pipelines/CompileModel.h"
#include "tessera/Report/Report.h"

using namespace mlir;
using namespace tessera;

static ImportOptions importOptionsOf(const PlanOptions &plan) {
  PlannedModel options;
  options.plan = plan;
  return importOptions(options, Choices::Silent);
}

FailureOr<ModelFacts> tessera::readFacts(MLIRContext &context,
                                         const std::string &path,
                                         const PlanOptions &plan) {
  auto module = importModel(&context, path, importOptionsOf(plan));
  if (failed(module))
    return failure();
  auto model =
      (**module)->getAttrOfType<DictionaryAttr>(nn::NNDialect::kModelAttr);
  auto number = [&](StringRef name) {
    auto size = model.getAs<IntegerAttr>(name);
    return size ? size.getInt() : 1;
  };
  ModelFacts facts;
  facts.layers = number("layers");
  facts.sequence = number("sequence");
  (*module)->walk([&](nn::TopKOp) { facts.hasExperts = true; });
  return facts;
}

/// The metadata of a compiled plan, or what is wrong.
static std::optional<std::string> compile(const std::string &path,
                                          const PlanOptions &plan,
                                          Verification verification,
                                          std::string &why) {
  DialectRegistry registry;
  registerCompilerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error && why.empty())
      why = diagnostic.str();
    return success();
  });
  auto module = importModel(&context, path, importOptionsOf(plan));
  if (failed(module))
    return std::nullopt;
  FailureOr<std::string> metadata = compileToMetadata(
      **module, plan, {{}, verification == Verification::AfterEachPass});
  if (failed(metadata))
    return std::nullopt;
  return *metadata;
}

/// The number after that of a chunk's last layer. -1: parts outside of layers
/// are at both sides of its end.
static int64_t endOfChunk(const Report &report, size_t chunk) {
  const auto &chunks = report.pipeline->chunks;
  if (auto last = report.program.layers->layerOf(chunks[chunk].last))
    return *last + 1;
  if (chunk + 1 == chunks.size())
    return static_cast<int64_t>(report.program.layers->layers());
  return report.program.layers->layerOf(chunks[chunk + 1].first).value_or(-1);
}

/// A layer that is cut belongs to the chunk in which it begins.
static std::vector<std::vector<int64_t>> layersOfChunks(const Report &report) {
  if (!report.program.layers || report.program.layers->layers() == 0)
    return {};
  size_t count = report.pipeline ? report.pipeline->chunks.size() : 1;
  std::vector<std::vector<int64_t>> chunks(count);
  int64_t next = 0;
  for (size_t chunk = 0; chunk < count; ++chunk) {
    int64_t end = report.pipeline
                      ? endOfChunk(report, chunk)
                      : static_cast<int64_t>(report.program.layers->layers());
    if (end < 0)
      return {};
    while (next < end)
      chunks[chunk].push_back(next++);
  }
  return chunks;
}

static void describe(const Report &report, const simulate::Program &program,
                     const simulate::StepTimes &times, Evaluation &result) {
  result.seconds = times.seconds;
  result.bytes = program.bytesPerRank;
  result.ranks = program.ranks();
  result.tokens = program.tokens;
  for (const simulate::StageTimes &stage : times.stages)
    for (size_t i = 0; i < simulate::kActivities; ++i)
      result.activities[i] +=
          stage.seconds[i] / static_cast<double>(times.stages.size());
  result.memory.assign(report.memory.begin(), report.memory.end());
  // Owners of parameters are no stages.
  if (!report.pipeline && program.stages.size() > 1)
    return;
  result.chunks = layersOfChunks(report);
  if (!report.pipeline) {
    result.stages = {{times.seconds}, {static_cast<double>(result.bytes)}};
    return;
  }
  constexpr auto waits = static_cast<size_t>(simulate::Activity::Stages);
  for (const simulate::StageTimes &stage : times.stages)
    result.stages.seconds.push_back(times.seconds - stage.seconds[waits]);
  for (const PipelineReport::Stage &stage : report.pipeline->stages)
    result.stages.bytes.push_back(static_cast<double>(stage.arenaBytes));
}

namespace {

struct CompiledStep {
  std::string problem; ///< "": the others are there.
  Report report;
  std::optional<simulate::Program> program;
};

} // namespace

static CompiledStep compileStep(const std::string &path,
                                const PlanOptions &given,
                                Verification verification) {
  CompiledStep step;
  step.problem = checkPlan(given);
  if (!step.problem.empty())
    return step;
  PlanOptions plan = given;
  plan.optimizer = completed(given.optimizer);
  plan.evaluation = false; // a search is about the step
  std::optional<std::string> metadata =
      compile(path, plan, verification, step.problem);
  if (!metadata)
    return step;
  if (llvm::Error error = step.report.readWithoutCalls(*metadata)) {
    step.problem = llvm::toString(std::move(error));
    return step;
  }
  llvm::Expected<simulate::Program> program =
      simulate::readStep(*metadata, step.report.program);
  if (program)
    step.program = std::move(*program);
  else
    step.problem = llvm::toString(program.takeError());
  return step;
}

static Evaluation evaluate(const CompiledStep &step,
                           const simulate::Cluster &cluster) {
  Evaluation result;
  result.problem = step.problem;
  if (!result.problem.empty())
    return result;
  llvm::Expected<simulate::StepTimes> times =
      simulate::simulate(*step.program, cluster, /*keepSpans=*/false);
  if (!times)
    result.problem = llvm::toString(times.takeError());
  else
    describe(step.report, *step.program, *times, result);
  return result;
}

Evaluation tessera::evaluatePlan(const std::string &path,
                                 const PlanOptions &plan,
                                 const simulate::Cluster &cluster,
                                 Verification verification) {
  return evaluate(compileStep(path, plan, verification), cluster);
}

/// Runs each loop once less. False: there is none.
static bool shortenLoops(simulate::Program &program) {
  bool hasLoops = false;
  for (simulate::StageProgram &stage : program.stages)
    for (simulate::Call &call : stage.calls)
      if (call.times > 1) {
        --call.times;
        hasLoops = true;
      }
  return hasLoops;
}

std::pair<Evaluation, Evaluation>
tessera::evaluateMicroBatches(const std::string &path, const PlanOptions &plan,
                              const simulate::Cluster &cluster) {
  CompiledStep step = compileStep(path, plan, Verification::AfterEachPass);
  Evaluation all = evaluate(step, cluster);
  if (step.program && shortenLoops(*step.program))
    return {evaluate(step, cluster), all};
  PlanOptions fewer = plan;
  fewer.sizes.batch -= plan.sizes.batch / plan.sizes.microBatches;
  --fewer.sizes.microBatches;
  return {all.problem.empty()
              ? evaluatePlan(path, fewer, cluster, Verification::AfterEachPass)
              : all,
          all};
}
