//===- MeasureProgram.cpp - the calls of a step, timed --------------------===//

#include "tools/tessera/calibrate/MeasureProgram.h"
#include "tessera/Json/ReadText.h"
#include "tessera/Program/ProgramJson.h"
#include "tessera/Target/OutputFile.h"
#include "tessera/Target/TemporaryFile.h"
#include "tools/tessera/report/PrintError.h"
#include "tools/tessera/train/OpenSession.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <random>

using namespace tessera;

static bool fail() { return !printError(tsr_last_error()); }

/// Writes the config, compiles and loads it.
static bool openProgram(const CalibrationProgram &program, RunSettings &options,
                        ArtifactFile &artifact) {
  TemporaryFile config;
  std::error_code error = config.create("json");
  if (!error)
    error = writeOutput(config.path, {program.config});
  if (error)
    return !printError("cannot write a temporary file: " + error.message());
  options.model = config.path.str().str();
  options.plan = program.plan;
  options.communicator = program.communicator;
  return artifact.open(options);
}

static std::vector<int32_t> tokensOf(const tsr_artifact *artifact) {
  auto vocabulary = static_cast<uint64_t>(tsr_artifact_vocabulary(artifact));
  std::vector<int32_t> tokens(tsr_artifact_batch(artifact) *
                              tsr_artifact_columns(artifact));
  std::mt19937_64 random(1);
  for (int32_t &token : tokens)
    token = static_cast<int32_t>(random() % vocabulary);
  return tokens;
}

bool TimedProgram::open(const CalibrationProgram &program, int64_t cores) {
  precision = program.plan.precision;
  isForLink = program.isForLink;
  options.threads = static_cast<int32_t>(cores);
  if (!openProgram(program, options, artifact))
    return false;
  llvm::Expected<program::Program> compiled = artifact.readProgram();
  llvm::Expected<simulate::Program> step =
      compiled ? simulate::readStep(artifact.metadata(), *compiled)
               : compiled.takeError();
  if (!step)
    return !printError(llvm::toString(step.takeError()));
  calls = std::move(*step);
  return true;
}

bool TimedProgram::run(int64_t steps) {
  TemporaryFile file;
  if (std::error_code error = file.create("trace.json"))
    return !printError(describeTemporary(error));
  std::string path = file.path.str().str();
  std::vector<int32_t> tokens = tokensOf(artifact.get());
  OpenedSession session = openSession(options, artifact.get());
  if (!session)
    return false;
  tsr_step_result result;
  if (tsr_session_init(session.get()))
    return fail();
  int64_t warmUp = times.isEmpty() ? 2 : 1; // the library generates its code
  for (int64_t step = 0; step < warmUp + steps; ++step) {
    if (step >= warmUp && tsr_session_trace(session.get(), path.c_str()))
      return fail();
    if (tsr_session_step(session.get(), tokens.data(), tokens.size(), &result))
      return fail();
    if (step < warmUp)
      continue;
    auto text = readText(path, json_kinds::trace);
    if (!text)
      return !printError(llvm::toString(text.takeError()));
    if (!times.add((*text)->getBuffer()))
      return false;
  }
  return true;
}

MeasuredProgram TimedProgram::result() const {
  MeasuredProgram measured;
  measured.precision = precision;
  measured.isForLink = isForLink;
  measured.threads = std::max<int64_t>(options.threads / calls->ranks(), 1);
  measured.betweenCalls = times.betweenCalls();
  std::map<int64_t, double> ofAllRanks = times.medians(),
                            ofLastRank = times.mediansOfLastRank(), computing;
  std::vector<const simulate::Call *> list;
  for (const simulate::StageProgram &stage : calls->stages)
    for (const simulate::Call &call : stage.calls)
      list.push_back(&call); // numbers of a trace go from stage to stage
  for (auto [op, seconds] : ofAllRanks)
    if (op >= 0 && op < static_cast<int64_t>(list.size()) &&
        !list[op]->communicates())
      computing[op] = seconds;
  double scale = times.sumOverMedians(computing);
  for (const auto &[op, call] : llvm::enumerate(list)) {
    const auto &known = call->communicates() ? ofLastRank : computing;
    if (auto found = known.find(static_cast<int64_t>(op)); found != known.end())
      measured.calls.push_back(
          {*call, calls->ranks(),
           found->second * (call->communicates() ? 1 : scale)});
  }
  return measured;
}
