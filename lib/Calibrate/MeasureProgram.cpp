//===- MeasureProgram.cpp - the calls of a step, timed --------------------===//

#include "lib/Calibrate/MeasureProgram.h"
#include "tessera/Artifact/RuntimeError.h"
#include "tessera/Json/ReadText.h"
#include "tessera/Pipelines/EmitError.h"
#include "tessera/Program/ProgramJson.h"
#include "tessera/Target/OutputFile.h"
#include "tessera/Target/TemporaryFile.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <random>

using namespace mlir;
using namespace tessera;

/// Writes the config, compiles and loads it.
static LogicalResult openProgram(MLIRContext &context,
                                 const CalibrationProgram &program,
                                 ArtifactFile &artifact) {
  TemporaryFile config;
  std::error_code error = config.create("json");
  if (!error)
    error = writeOutput(config.path, {program.config});
  if (error)
    return emitFailure(context,
                       "cannot write a temporary file: " + error.message());
  PlannedModel model;
  model.model = config.path.str().str();
  model.plan = program.plan;
  return artifact.open(context, model);
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

LogicalResult TimedProgram::open(MLIRContext &context,
                                 const CalibrationProgram &program,
                                 int64_t allCores) {
  precision = program.plan.precision;
  isForLink = program.isForLink;
  device = program.plan.device.target.kind;
  communicator = program.communicator;
  cores = allCores;
  if (failed(openProgram(context, program, artifact)))
    return failure();
  llvm::Expected<program::Program> compiled = artifact.readProgram();
  llvm::Expected<simulate::Program> step =
      compiled ? simulate::readStep(artifact.metadata(), *compiled)
               : compiled.takeError();
  if (!step)
    return emitFailure(context, step.takeError());
  calls = std::move(*step);
  return success();
}

/// Returns null where the runtime has an error.
TimedProgram::Session TimedProgram::startSession() const {
  tsr_session_options options = {};
  options.size = sizeof options;
  options.device = nameOf(device);
  if (!communicator.empty())
    options.communicator = communicator.c_str();
  options.threads = static_cast<int32_t>(cores);
  tsr_session *session = nullptr;
  if (tsr_session_create(artifact.get(), &options, &session) == TSR_OK &&
      tsr_session_init(session) != TSR_OK) {
    tsr_session_destroy(session);
    return nullptr;
  }
  return Session(session);
}

llvm::Error TimedProgram::run(int64_t steps) {
  TemporaryFile file;
  if (std::error_code error = file.create("trace.json"))
    return llvm::createStringError(describeTemporary(error));
  std::string path = file.path.str().str();
  std::vector<int32_t> tokens = tokensOf(artifact.get());
  Session session = startSession();
  if (!session)
    return runtimeError();
  tsr_step_result result;
  int64_t warmUp = times.isEmpty() ? 2 : 1; // the library generates its code
  for (int64_t step = 0; step < warmUp + steps; ++step) {
    if (step >= warmUp && tsr_session_trace(session.get(), path.c_str()))
      return runtimeError();
    if (tsr_session_step(session.get(), tokens.data(), tokens.size(), &result))
      return runtimeError();
    if (step < warmUp)
      continue;
    auto text = readText(path, json_kinds::trace);
    if (!text)
      return text.takeError();
    if (llvm::Error error = times.add((*text)->getBuffer()))
      return error;
  }
  return llvm::Error::success();
}

MeasuredProgram TimedProgram::result() const {
  MeasuredProgram measured;
  measured.precision = precision;
  measured.isForLink = isForLink;
  measured.threads = std::max<int64_t>(cores / calls->ranks(), 1);
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
