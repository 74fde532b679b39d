//===- Evaluate.cpp - tessera evaluate ------------------------------------===//

#include "tools/tessera/Commands.h"
#include "tools/tessera/evaluate/Questions.h"
#include "tools/tessera/generate/OpenGenerator.h"
#include "tools/tessera/input/ArtifactFile.h"
#include "tools/tessera/input/ModelCheck.h"
#include "tools/tessera/input/ModelFiles.h"
#include "tools/tessera/input/SharedFiles.h"
#include "tools/tessera/options/FileChecks.h"
#include "tools/tessera/report/Output.h"
#include "tools/tessera/report/PrintError.h"
#include "tools/tessera/report/Report.h"
#include "tools/tessera/train/LabelBytes.h"
#include "tools/tessera/train/Measurement.h"
#include "tools/tessera/train/OpenSession.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace tessera;
namespace json = llvm::json;

/// A checkpoint's optimizer, and what it froze, change nothing of its loss.
static bool loadParameters(const DriverOptions &options,
                           const ArtifactFile &artifact, tsr_session *session) {
  std::string weights =
      modelWeights(options, {options.weights, options.checkpoint});
  if (weights.empty() ||
      !checkConfigBeside(options, artifact.metadata(), weights))
    return false;
  if (tsr_session_load_weights(session, weights.c_str()) != TSR_OK)
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

static void print(const DriverOptions &options, const Measurement &result,
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

/// A program for one text at a time, which is no longer than it must be. Ranks
/// of `cp`, and of sequence parallelism, have equal parts.
static void fitTo(const Questions &questions, DriverOptions &options) {
  PlanOptions &plan = options.plan;
  if (plan.programs == ProgramSet::Generate) {
    if (!plan.generation.length)
      plan.generation.length = questions.longestText() - 1;
    return;
  }
  plan.sizes.ignoresLabels = true;
  if (!plan.sizes.batch)
    plan.sizes.batch = plan.mesh.sizeOf(MeshAxis::Data) *
                       plan.mesh.sizeOf(MeshAxis::Expert) *
                       std::max<int64_t>(1, plan.sizes.microBatches);
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

/// What an artifact can score choices with.
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

/// By requests of a session, more of them than run at a time.
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
static bool openFor(const Questions &questions, const DriverOptions &options,
                    ArtifactFile &artifact) {
  if (artifact.open(options))
    return true;
  if (!options.isArtifact() && !options.isProgram())
    printNote(questions.longestPlace());
  return false;
}

/// How often a model chooses the right answer.
static int evaluateChoices(DriverOptions &options) {
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
      !report.read(artifact.metadata()))
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
                   processesText(options.launch).c_str());
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

int tessera::runEvaluate(const DriverOptions &given) {
  DriverOptions options = given;
  if (!options.launch.isAlone())
    setErrorRank(options.launch.rank);
  if (options.weights.empty() && options.checkpoint.empty() &&
      weightsBeside(options).empty())
    return printError("nothing says which parameters are to be evaluated; give "
                      "--checkpoint or --load-weights");
  if (std::string problem = limitRanks(options); !problem.empty())
    return printError(problem);
  if (std::string problem = checkRunFiles(options); !problem.empty())
    return printError(problem);
  shareFiles(options, options.choices);
  if (!options.choices.empty())
    return evaluateChoices(options);
  ArtifactFile artifact;
  Report report;
  if (!artifact.open(options) || !report.read(artifact.metadata()))
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
                   processesText(options.launch).c_str());
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
