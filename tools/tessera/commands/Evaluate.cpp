//===- Evaluate.cpp - tessera evaluate ------------------------------------===//

#include "tessera/Artifact/DeviceReport.h"
#include "tessera/Report/Report.h"
#include "tools/tessera/evaluate/Questions.h"
#include "tools/tessera/generate/OpenGenerator.h"
#include "tools/tessera/input/ModelCheck.h"
#include "tools/tessera/input/ModelFiles.h"
#include "tools/tessera/input/OpenModel.h"
#include "tools/tessera/input/SharedFiles.h"
#include "tools/tessera/options/Agreement.h"
#include "tools/tessera/options/Command.h"
#include "tools/tessera/options/DataWeights.h"
#include "tools/tessera/options/FileChecks.h"
#include "tools/tessera/options/GroupDeclarations.h"
#include "tools/tessera/options/PlanGroup.h"
#include "tools/tessera/output/Output.h"
#include "tools/tessera/output/PrintError.h"
#include "tools/tessera/train/LabelBytes.h"
#include "tools/tessera/train/Measurement.h"
#include "tools/tessera/train/OpenSession.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace tessera;
namespace json = llvm::json;

namespace {

struct EvaluateOptions : RunSettings {
  std::string choices;    ///< Questions to evaluate on, instead of data.
  std::string checkpoint; ///< A directory.
  bool json = false;
};

} // namespace

/// Loads parameters: a checkpoint's optimizer, and what it froze, change
/// nothing of its loss.
static bool loadParameters(const EvaluateOptions &options,
                           const ArtifactFile &artifact, tsr_session *session) {
  llvm::Expected<std::string> weights = checkedWeights(
      options, {options.weights, options.checkpoint}, artifact.metadata());
  if (!weights)
    return !printError(weights.takeError());
  if (tsr_session_load_weights(session, weights->c_str()) != TSR_OK)
    return !printError(tsr_last_error());
  printNotes(options, session);
  if (!options.adapter.empty() &&
      tsr_session_load_adapter(session, options.adapter.c_str()) != TSR_OK)
    return !printError(tsr_last_error());
  return true;
}

/// JSON has no infinity and no NaN.
static json::Value numberOrNull(double value) {
  return std::isfinite(value) ? json::Value(value) : json::Value(nullptr);
}

static json::Value jsonOf(const Measurement &result, int64_t batches,
                          int64_t leftOut) {
  json::Object object{{"loss", numberOrNull(result.loss)},
                      {"perplexity", numberOrNull(result.perplexity())},
                      {"accuracy", result.accuracy()},
                      {"correct", result.correct},
                      {"labels", result.labels},
                      {"batches", batches},
                      {"sequences_left_out", leftOut}};
  if (result.bytes) {
    object["bits_per_byte"] = numberOrNull(result.bitsPerByte());
    object["bytes"] = result.bytes;
  }
  return object;
}

static void print(const EvaluateOptions &options, const Measurement &result,
                  const EvaluationData &data) {
  if (options.launch.rank != 0)
    return;
  if (options.json) {
    printJson(jsonOf(result, data.batches(), data.leftOut()));
    return;
  }
  printFormatted("%s\n", result.text().c_str());
  if (int64_t leftOut = data.leftOut())
    printFormatted(
        "%lld sequence%s left out: %s, %lld of them\n",
        static_cast<long long>(leftOut), leftOut == 1 ? " was" : "s were",
        options.evalBatches
            ? "only the batches of --eval-batches are evaluated"
            : "only whole batches are evaluated, as the program counts the "
              "labels of all sequences",
        static_cast<long long>(data.batches()));
}

/// Asks for a program for one text at a time, which is no longer than it must
/// be. Ranks of `cp`, and of sequence parallelism, have equal parts.
static void fitTo(const Questions &questions, EvaluateOptions &options) {
  PlanOptions &plan = options.plan;
  if (plan.programs == ProgramSet::Generate) {
    if (!plan.generation.length)
      plan.generation.length = questions.longestText() - 1;
    return;
  }
  plan.sizes.ignoresLabels = true;
  if (!plan.sizes.batch)
    plan.sizes.batch =
        plan.mesh.lanes() * std::max<int64_t>(1, plan.sizes.microBatches);
  int64_t parts =
      2 * plan.mesh.sizeOf(MeshAxis::Context) *
      (plan.strategies.sequenceParallel ? plan.mesh.sizeOf(MeshAxis::Tensor)
                                        : 1);
  bool isCut = parts > 2;
  if (!plan.sizes.sequence)
    plan.sizes.sequence =
        isCut ? llvm::alignTo(questions.longestText() - 1, parts)
              : questions.longestText() - 1;
}

/// Says with which programs an artifact can score choices.
struct ScoringPrograms {
  bool trains = true;      ///< An evaluation, of texts one by one.
  bool generates = false;  ///< Steps of rows, of many texts at a time.
  bool scoresRows = false; ///< Not in older artifacts.

  explicit ScoringPrograms(const program::Program &program)
      : trains(program.trains()), generates(program.generates()),
        scoresRows(generates && program.score) {}
  /// Processes train and evaluate, but do not generate.
  bool runsRows(const Launch &launch) const {
    return !trains || (scoresRows && launch.isAlone());
  }
};

struct DestroyGenerator {
  void operator()(tsr_generator *object) const {
    tsr_generator_destroy(object);
  }
};

/// Scores by requests of a session, more of them than run at a time.
static bool scoreByRows(Questions &questions, tsr_session *session,
                        const Report &report) {
  tsr_generator *created = nullptr;
  if (tsr_generator_create_on(session, &created) != TSR_OK)
    return !printError(tsr_last_error());
  std::unique_ptr<tsr_generator, DestroyGenerator> generator(created);
  return questions.score(created, 2 * report.requests());
}

/// Opens what scores them. A model that is too short has an error of its own,
/// which knows no questions.
static bool openFor(const Questions &questions, const EvaluateOptions &options,
                    ArtifactFile &artifact) {
  if (openArtifact(options, artifact))
    return true;
  if (!options.isArtifact() && !options.isProgram())
    printNote(questions.longestPlace());
  return false;
}

/// Prints how often a model chooses the right answer.
static int evaluateChoices(EvaluateOptions &options) {
  TextOfTokens tokenizer;
  Questions questions;
  std::string folder = options.evalTokenizer.empty() ? tokenizerBeside(options)
                                                     : options.evalTokenizer;
  if (!tokenizer.open(folder) || !questions.read(options.choices, tokenizer))
    return 1;
  if (!options.isArtifact() && !options.isProgram())
    fitTo(questions, options);
  ArtifactFile artifact;
  Report report;
  if (!openFor(questions, options, artifact) ||
      printIfError(report.read(artifact.metadata())))
    return 1;
  if (report.program.model.target)
    return printError("--choices asks which text goes on a prompt, which a "
                      "causal decoder predicts; '" +
                      options.model +
                      "' reads a source. Give the loss of sources and targets "
                      "with --data");
  const ScoringPrograms programs(report.program);
  OpenedSession session = openSession(options, artifact.get());
  if (!session || !loadParameters(options, artifact, session.get()))
    return 1;
  if (options.launch.rank == 0 && !options.json)
    printFormatted("evaluating %s%s\n", report.headline().c_str(),
                   processesText(options).c_str());
  if (!(programs.runsRows(options.launch)
            ? scoreByRows(questions, session.get(), report)
            : questions.score(session.get())))
    return 1;
  if (options.launch.rank == 0 && options.json)
    printJson(questions.json());
  else if (options.launch.rank == 0)
    printFormatted("%s\n", questions.text().c_str());
  return 0;
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

namespace {

class Evaluate : public Command {
public:
  void declare(CLI::App &app) override;
  void check(CLI::App &app) override;
  int run() override;

private:
  void declareWeights(CLI::App &app);
  void checkMeasured(CLI::App &app) const;
  std::string checkNamedFiles();

  EvaluateOptions options;
  PlanGroup plan{options};
};

const CommandRegistration<Evaluate> registration(
    {140, "evaluate", "Measure a model's loss on data",
     " examples/gpt2-tiny --load-weights runs/one/step-00000300 --data f.txt"});

} // namespace

void Evaluate::declareWeights(CLI::App &app) {
  beginGroup(app, "Weights", "--checkpoint runs/one");
  CLI::Option *weights =
      app.add_option("--load-weights", options.weights,
                     "Weights as transformers saves them: "
                     "model.safetensors, its index, or their directory")
          ->type_name("PATH");
  declareCheckpoint(app, options.checkpoint)->excludes(weights);
  declareAdapter(app, options.adapter);
}

void Evaluate::declare(CLI::App &app) {
  declareModel(app, options, ModelKinds::SourcesAndArtifacts);
  beginGroup(app, "Data", "--data f.txt --validation-fraction 0.1");
  tessera::declare(app, static_cast<DataOptions &>(options));
  app.get_option("--data")->type_name("FILE")->required(false);
  declareWeights(app);
  beginGroup(app, "Evaluation", "--choices questions.jsonl");
  tessera::declare(app, static_cast<EvaluationOptions &>(options));
  app.add_option("--choices", options.choices,
                 "Instead of --data: questions, a line of JSON each with "
                 "prompt, choices and the number of the answer; how often it "
                 "is the most probable choice")
      ->type_name("FILE");
  declareJson(app, options.json);
  declareTrust(app, options);
  tessera::declare(app, static_cast<LaunchOptions &>(options));
  plan.declare(app, {ProgramSet::Train, ProgramSet::TrainAndGenerate,
                     ProgramSet::Generate});
  plan.declareRanks(app);
  plan.declarePlanFile(app);
  declareThreads(app, options.threads);
}

/// Either data is measured, or questions are.
void Evaluate::checkMeasured(CLI::App &app) const {
  if (options.data.empty() && options.choices.empty())
    refuse("nothing says what to evaluate on; give --data or --choices");
  for (const char *name :
       {"--data", "--eval-batches", "--validation-fraction", "--data-format"})
    if (!options.choices.empty() && app.get_option(name)->count())
      refuse(std::string(name) + " is about the loss on data, --choices about "
                                 "questions; give one of the two");
  if (!options.dataWeights.empty())
    refuse("evaluate measures every sequence once, so files have no weights; "
           "leave them out");
}

void Evaluate::check(CLI::App &app) {
  plan.read(app);
  const bool isScored =
      options.plan.programs == ProgramSet::Generate && !options.choices.empty();
  if (!isScored)
    plan.requireTraining();
  plan.checkRules(plan.given());
  tessera::check(static_cast<LaunchOptions &>(options));
  options.isFirstProcess = options.launch.rank == 0;
  refuseUnless(takeWeights(options.data, options.dataWeights));
  plan.completeRate();
  plan.checkArtifact();
  checkMeasured(app);
  options.shared = agreedOptions(app, options, plan);
}

std::string Evaluate::checkNamedFiles() {
  return firstOf({checkRunFiles(options), checkCheckpoint(options.checkpoint),
                  options.choices.empty()
                      ? ""
                      : checkInput("--choices", options.choices,
                                   "name a file of lines {\"prompt\": ..., "
                                   "\"choices\": [...], \"answer\": k}")});
}

int Evaluate::run() {
  if (std::string problem =
          firstOf({findModel(options, ModelKinds::SourcesAndArtifacts),
                   deviceProblem(options.plan)});
      !problem.empty())
    return printError(problem);
  if (!options.launch.isAlone())
    setErrorRank(options.launch.rank);
  if (options.weights.empty() && options.checkpoint.empty() &&
      weightsBeside(options).empty())
    return printError("nothing says which parameters are to be evaluated; give "
                      "--checkpoint or --load-weights");
  if (std::string problem =
          firstOf({limitRanks(options), prepareProcess(options)});
      !problem.empty())
    return printError(problem);
  if (std::string problem = checkNamedFiles(); !problem.empty())
    return printError(problem);
  shareFiles(options, options.choices);
  if (!options.choices.empty())
    return evaluateChoices(options);
  ArtifactFile artifact;
  Report report;
  if (!openArtifact(options, artifact, report))
    return 1;
  if (report.program.generates() || report.program.encodes())
    return printError("'" + options.model + "' has programs that " +
                      (report.program.generates() ? "generate" : "encode") +
                      " alone, and none that evaluates; compile the model with "
                      "--programs train");
  EvaluationData data;
  OpenedSession session = openSession(options, artifact.get());
  if (!session ||
      !data.open(options, artifact.get(), session.get(), options.data) ||
      !loadParameters(options, artifact, session.get()))
    return 1;
  if (options.launch.rank == 0 && !options.json)
    printFormatted("evaluating %s%s\n", report.headline().c_str(),
                   processesText(options).c_str());
  Measurement result;
  if (!data.measure(session.get(), result))
    return 1;
  if (result.labels == 0)
    return printError("no label of the data of the evaluation counts, so "
                      "there is no loss: its tokens are padding, special "
                      "tokens or separators alone; use other data");
  print(options, result, data);
  return 0;
}
