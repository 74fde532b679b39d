#include "runtime/session/Session.h"

#include "runtime/session/Initializer.h"
#include "runtime/session/Quantize.h"
#include "runtime/session/StepInputs.h"
#include "runtime/support/ThreadTeam.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <utility>

namespace tessera {

using Clock = std::chrono::steady_clock;

// After a failure, ranks that still compute get this long to come back (at most
// the timeout) before the step returns without them.
static constexpr std::chrono::milliseconds longestGrace{2000};

// While a rank's thread prepares the next step, an accelerator waits; on the
// CPU spinning would take the cores that compute.
static std::chrono::microseconds spinOf(const SessionCore &core) {
  bool hasCores = core.metadata->device != "cpu" && !core.cores.oversubscribed;
  return std::chrono::microseconds(hasCores ? 50 : 0);
}

Session::Session(const Artifact &artifact, const SessionOptions &options)
    : Session(artifact, options, nullptr) {}

Session::Session(const Artifact &artifact, const SessionOptions &options,
                 std::shared_ptr<Device> device)
    : core(makeCore(artifact, options, std::move(device))), processes(*core),
      threads(static_cast<int64_t>(core->ranks.size()), core->cores,
              spinOf(*core)),
      schedule(scheduleOf(core->metadata->optimizer)),
      timeout(options.timeoutMs), position{0, options.seed, 0},
      shardBytes(options.maxShardBytes),
      ready(!core->metadata->hasParameters()) {
  checkSameCode(artifact);
  together([&] {
    onEveryRank([&](Rank &rank) {
      try {
        rank.device = core->device->openRank(rank);
      } catch (...) {
        rank.communicator->abort(currentStatus()); // others may wait for it
        throw;
      }
      if (options.poison)
        rank.device->poison();
      fillTables(rank);
    });
  });
}

const std::string &Session::deviceText() const {
  return deviceDescription = core->ranks[0]->device->describe();
}

void Session::checkAlive() const {
  if (!death.ok())
    fail(TSR_ABORTED, "the session is dead: ", death.message);
}

int32_t Session::largest(int32_t value) const {
  checkAlive();
  return processes.largest(value);
}

void Session::onEveryRank(const std::function<void(Rank &)> &body) {
  checkAlive();
  Status status =
      threads.run([&](int64_t number) { body(*core->ranks[number]); });
  if (!status.ok())
    throw Error(status);
}

namespace {
/// Gives a rank so many threads while it lives.
class ThreadsOfRank {
public:
  ThreadsOfRank(Rank &rank, int threads)
      : rank(rank), before(std::exchange(rank.threads, threads)) {}
  ThreadsOfRank(const ThreadsOfRank &) = delete;
  ThreadsOfRank &operator=(const ThreadsOfRank &) = delete;
  ~ThreadsOfRank() {
    rank.threads = before;
    ThreadTeam::ofThisThread().shrink(before - 1);
  }

private:
  Rank &rank;
  int before;
};
} // namespace

void Session::fillOnEveryRank(const std::function<void(Rank &)> &body) {
  onEveryRank([&](Rank &rank) {
    ThreadsOfRank threads(rank, core->cores.fillingThreads);
    body(rank);
  });
}

void Session::initialize() {
  beginChange("drawing parameters");
  adapterBase = {};
  fillOnEveryRank([&](Rank &rank) { initializeState(rank, seed()); });
  resumeAt({0, seed(), 0});
}

void Session::setNotes(const std::vector<std::string> &lines) {
  noteText.clear();
  for (const std::string &line : lines)
    noteText += (noteText.empty() ? "" : "\n") + printableMessage(line);
}

void Session::resumeAt(const RunPosition &next) {
  position = next;
  ready = true;
  ++changeCount;
}

const OwnedDirectory &Session::own(const std::string &directory) {
  for (const auto &owned : directories)
    if (owned->isAt(directory)) {
      owned->check();
      return *owned;
    }
  directories.push_back(std::make_unique<OwnedDirectory>(directory));
  return *directories.back();
}

void Session::setSchedule(const Schedule &next) {
  checkSchedule(next);
  schedule = next;
}

const TensorInfo &Session::tensor(const std::string &role,
                                  const std::string &name) const {
  std::optional<Role> known = roleFromName(role);
  if (!known)
    fail(TSR_INVALID_ARGUMENT, "'", role,
         "' is no role; use parameter, master, moment1, moment2, gradient, "
         "input, output or value");
  const TensorInfo *tensor = metadata().find(*known, name);
  if (!tensor)
    fail(TSR_NOT_FOUND, "the artifact has no ", role, " '", name, "'");
  return *tensor;
}

void Session::readLocal(int64_t rank, const TensorInfo &tensor,
                        double *values) const {
  checkAlive();
  if (scaleOf(metadata(), tensor))
    fail(TSR_UNSUPPORTED, tensor.describe(), " is in int8, and a rank's part ",
         "of it cannot be read; read all of it");
  const Mesh &mesh = metadata().mesh;
  int64_t stage = mesh.stageOf(mesh.coordinates(rank));
  if (!tensor.isAt(stage))
    fail(TSR_NOT_FOUND, "rank ", rank, " at pipeline stage ", stage,
         " does not hold ", tensor.describe(), "; a rank at stage ",
         tensor.firstStage(), " does");
  for (const auto &own : core->ranks)
    if (own->number == rank)
      return tessera::readLocal(*own, tensor, values);
  fail(TSR_INVALID_ARGUMENT, "rank ", rank, " is of another process, this is ",
       "rank ", core->ranks[0]->number);
}

template <class Value>
void Session::writeValues(const TensorInfo &tensor, const Value *values) {
  Source source = [&](int64_t first, int64_t count, double *out) {
    std::copy_n(values + first, count, out);
  };
  ++changeCount;
  fillOnEveryRank([&](Rank &rank) { writeParameter(rank, tensor, source); });
}

void Session::write(const TensorInfo &tensor, const double *values) {
  writeValues(tensor, values);
}

void Session::write(const TensorInfo &tensor, const float *values) {
  writeValues(tensor, values);
}

//===----------------------------------------------------------------------===//
// One optimizer step
//===----------------------------------------------------------------------===//

static void fillTokens(const Rank &rank, const char *name,
                       const Tokens &tokens) {
  const TensorInfo *tensor = rank.metadata->find(Role::Input, name);
  if (tensor && tokens)
    writeTokens(rank, *tensor, tokens);
}

static void fillScalar(Rank &rank, const char *name, double value) {
  if (const TensorInfo *tensor = rank.metadata->find(Role::Input, name))
    writeScalar(rank, *tensor, value);
}

void Session::fillInputs(Rank &rank, const StepInputs &inputs) const {
  const Optimizer &optimizer = metadata().optimizer;
  fillTokens(rank, "ids", inputs.ids);
  fillTokens(rank, "labels", inputs.labels);
  fillTokens(rank, "token_types", inputs.tokenTypes);
  fillTokens(rank, "decoder_ids", inputs.decoderIds);
  fillTokens(rank, "segments", inputs.segments);
  fillTokens(rank, "decoder_segments", inputs.decoderSegments);
  // Steps that were skipped have changed no moment.
  int64_t applied = position.step - position.skippedSteps;
  fillScalar(rank, "lr", schedule.at(position.step));
  fillScalar(rank, "bias_correction1",
             biasCorrection(optimizer.beta1, applied));
  fillScalar(rank, "bias_correction2",
             biasCorrection(optimizer.beta2, applied));
}

double Session::readScalar(const char *name) const {
  const TensorInfo *tensor = metadata().find(Role::Output, name);
  return tensor ? tessera::readScalar(*core->ranks[0], *tensor)
                : std::numeric_limits<double>::quiet_NaN();
}

/// Gives up a step whose ranks do not all come back. The inputs belong to the
/// caller, so it waits until all ranks have read them.
class Session::Watch {
public:
  Watch(const Session &session)
      : core(*session.core), timeout(session.timeout) {}

  void filled() { ++ranksFilled; }

  bool givesUp(int64_t running) {
    auto ranks = static_cast<int64_t>(core.ranks.size());
    if (ranksFilled < ranks)
      return false;
    Clock::time_point now = Clock::now();
    bool someDone = running < ranks;
    if (someDone && firstDone == Clock::time_point{})
      firstDone = now;
    if (someDone && !core.failed() && now - firstDone > timeout)
      core.world->abortStragglers(); // one rank is never some of several
    if (core.failed() && failedAt == Clock::time_point{})
      failedAt = now;
    return core.failed() && now - failedAt > std::min(timeout, longestGrace);
  }

private:
  const SessionCore &core;
  std::chrono::milliseconds timeout;
  std::atomic<int64_t> ranksFilled{0};
  Clock::time_point failedAt{}, firstDone{};
};

void Session::run(tsr_abi_program program, int64_t number,
                  const std::function<void(Rank &)> &inputs) {
  for (auto &rank : core->ranks)
    rank->communicator->entered();
  Watch watch(*this);
  auto fill = [&](Rank &rank) {
    try {
      inputs(rank);
    } catch (...) {
      Status why = currentStatus();
      rank.communicator->abort(describedAs(why.code, [&] {
        return concat("the inputs of rank ", rank.number, ": ", why.message);
      }));
    }
    watch.filled();
  };
  // Only `fill` uses what belongs to the caller.
  auto job = [core = core, &fill,
              step = ProgramStep{program, number, seed()}](int64_t number) {
    Rank &rank = *core->ranks[number];
    fill(rank);
    runProgram(rank, step);
  };
  Status status =
      threads.run(job, [&](int64_t running) { return watch.givesUp(running); });
  death = core->failed() ? core->failure() : std::move(status);
  if (!death.ok())
    throw Error(death);
}

void Session::traceNextStep(const std::string &path) {
  checkAlive();
  tracePath = path;
}

void Session::startTrace() {
  for (auto &rank : core->ranks)
    rank->trace = std::make_unique<RankTrace>(metadata().callsOf(rank->stage));
}

void Session::finishTrace() {
  std::vector<const RankTrace *> traces;
  for (auto &rank : core->ranks)
    traces.push_back(rank->trace.get());
  writeTrace(std::exchange(tracePath, ""), metadata(), traces);
  for (auto &rank : core->ranks)
    rank->trace.reset();
}

tsr_step_result Session::stepOn(const StepInputs &inputs) {
  const Code &code = *core->ranks[0]->code;
  tsr_abi_program program = code.step();
  if (!program)
    fail(TSR_UNSUPPORTED, "the artifact ",
         code.decode() ? "generates" : "encodes",
         " and cannot be trained; compile the model with --programs train");
  beginChange("a training step");
  if (!tracePath.empty())
    startTrace();
  for (auto &rank : core->ranks)
    rank->expertRounds = 0;
  run(program, nextStep(), [&](Rank &rank) { fillInputs(rank, inputs); });
  tsr_step_result result;
  result.loss = readScalar("loss");
  result.grad_norm = readScalar("grad_norm");
  result.lr = schedule.at(position.step);
  result.step = position.step++;
  position.sequences += metadata().model.batch;
  labelsCounted = inputs.hasLabels;
  // The program has decided, in the same bits on every rank.
  position.skippedSteps += readScalar("applied") == 0;
  if (!tracePath.empty())
    finishTrace();
  return result;
}

int64_t Session::expertRounds() const {
  int64_t most = 0;
  for (const auto &rank : core->ranks)
    most = std::max(most, rank->expertRounds);
  return most;
}

void Session::checkReady() const {
  checkAlive();
  if (!ready)
    fail(TSR_INVALID_ARGUMENT, "the parameters are undefined; call "
                               "tsr_session_init or tsr_session_load first");
}

StepInputs Session::inputsFor(const int32_t *tokens, size_t count) const {
  checkReady();
  const Model &model = metadata().model;
  checkTokens(model, tokens, count);
  StepInputs inputs = inputsOf(model, tokens, seed(), nextStep());
  // No place in data may end a run: such a step is skipped.
  inputs.hasLabels = !model.ignoresLabels() || anyCounts(model, inputs.labels);
  return inputs;
}

StepInputs Session::inputsFor(const tsr_batch &batch, LabelUse use) const {
  checkReady();
  const Model &model = metadata().model;
  checkRange(model, "token", batch.ids, model.vocabulary);
  StepInputs inputs = inputsOf(model, batch);
  if (model.ignoresLabels() || model.hasSegments() ||
      !areWithin(batch.labels, model.batch * model.sequence, model.vocabulary))
    checkLabels(metadata(), inputs.labels, use);
  int64_t types = model.tokenTypes;
  if (batch.token_types && types == 0)
    fail(TSR_INVALID_ARGUMENT,
         "the model has no token types; leave token_types NULL");
  if (batch.token_types)
    checkRange(model, "token type", batch.token_types, types);
  return inputs;
}

tsr_step_result Session::step(const int32_t *tokens, size_t count) {
  return stepOn(inputsFor(tokens, count));
}

tsr_step_result Session::step(const tsr_batch &batch) {
  return stepOn(inputsFor(batch, LabelUse::Step));
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

tsr_evaluation Session::evaluateOn(const StepInputs &inputs) {
  tsr_abi_program program = core->ranks[0]->code->evaluation();
  if (!program || !metadata().hasEvaluation())
    fail(TSR_UNSUPPORTED, "the artifact has no evaluation program; compile the "
                          "model again, with --programs train and without "
                          "--no-evaluation");
  run(program, nextStep(), [&](Rank &rank) { fillInputs(rank, inputs); });
  const Model &model = metadata().model;
  bool counts = metadata().find(Role::Output, "evaluation_count") != nullptr;
  tsr_evaluation result;
  result.loss = readScalar("evaluation_loss");
  result.correct = std::llround(readScalar("evaluation_correct"));
  result.labels = counts ? std::llround(readScalar("evaluation_count"))
                         : model.batch * model.labels();
  return result;
}

/// A batch that is not whole is filled up with copies of its first sequence,
/// whose labels do not count.
tsr_evaluation Session::evaluate(const int32_t *tokens, size_t count,
                                 int64_t number) {
  checkReady();
  const Model &model = metadata().model;
  const int64_t sequences = evaluatedSequences(metadata(), count);
  std::vector<int32_t> whole;
  if (sequences < model.batch) {
    whole.assign(tokens, tokens + count);
    whole.reserve(static_cast<size_t>(model.batch * model.columns()));
    for (int64_t row = sequences; row < model.batch; ++row)
      whole.insert(whole.end(), tokens, tokens + model.columns());
    tokens = whole.data();
    count = whole.size();
  }
  checkTokens(model, tokens, count);
  const auto first = static_cast<int64_t>(static_cast<uint64_t>(number) *
                                          static_cast<uint64_t>(model.batch));
  const StepInputs inputs = evaluationInputsOf(model, tokens, sequences, first);
  if (!metadata().evaluationCounts())
    checkLabels(metadata(), inputs.labels, LabelUse::Evaluation);
  if (metadata().hasEvaluation() && !anyCounts(model, inputs.labels))
    return {};
  return evaluateOn(inputs);
}

tsr_evaluation Session::evaluate(const tsr_batch &batch) {
  return evaluateOn(inputsFor(batch, LabelUse::Evaluation));
}

//===----------------------------------------------------------------------===//
// Generation
//===----------------------------------------------------------------------===//

tsr_abi_program Session::programOf(RowProgram which) const {
  const Code &code = *core->ranks[0]->code;
  if (which == RowProgram::Encode && !code.encode())
    fail(TSR_UNSUPPORTED, "the artifact has no program that encodes; compile "
                          "the model with --programs encode");
  if (which == RowProgram::Encode)
    return code.encode();
  const bool generates = code.decode() && code.mixed();
  if (!generates)
    fail(TSR_UNSUPPORTED, "the artifact has no programs that generate; compile "
                          "the model with --programs generate, or "
                          "train,generate");
  if (which != RowProgram::Score)
    return which == RowProgram::Decode ? code.decode() : code.mixed();
  if (!code.score() || !metadata().hasScores())
    fail(TSR_UNSUPPORTED,
         "the artifact is of an older version, whose programs that generate "
         "do not score given tokens; compile the model again with --programs "
         "generate, or train,generate");
  return code.score();
}

void Session::runRows(RowProgram which,
                      const std::function<void(Rank &)> &fill) {
  checkReady();
  run(programOf(which), rowSteps, fill);
  ++rowSteps;
}

void Session::copyPlaces(const std::vector<PlaceCopy> &copies) {
  onEveryRank([&](Rank &rank) {
    for (const TensorInfo &tensor : metadata().tensors)
      if (isCache(tensor.role) && rank.holds(tensor))
        tessera::copyPlaces(rank, tensor, copies);
  });
}

void Session::setRequests(std::function<int64_t()> count) {
  if (count && countRequests)
    fail(TSR_INVALID_ARGUMENT,
         "the session has a generator already, whose requests are in its "
         "caches; use that one, or destroy it first");
  countRequests = std::move(count);
}

void Session::beginChange(const char *what) {
  const int64_t count = countRequests ? countRequests() : 0;
  if (count > 0)
    fail(TSR_INVALID_ARGUMENT, what, " changes the parameters, but ", count,
         " requests of the session's generator wait or run; run its steps "
         "until they have ended, or cancel them and run one step");
  ++changeCount;
}

//===----------------------------------------------------------------------===//
// Values of tensors
//===----------------------------------------------------------------------===//

/// The first process gathers the values, and all get them.
template <class Value>
void Session::readValues(const TensorInfo &tensor, Value *values) const {
  checkAlive();
  constexpr auto dtype = sizeof *values == 8 ? TSR_DTYPE_F64 : TSR_DTYPE_F32;
  processes.gatherToAll([&] { readGlobal(core->ranks, tensor, values); },
                        values, tensor.elements(), dtype);
}

/// Integers with scales become the values that they stand for.
template <class Value>
void Session::readScaled(const TensorInfo &tensor, Value *values) const {
  readValues(tensor, values);
  const TensorInfo *scale = scaleOf(metadata(), tensor);
  if (!scale)
    return;
  std::vector<double> scales(scale->elements());
  readValues(*scale, scales.data());
  multiplyByScales(tensor, *scale, scales, values);
}

void Session::read(const TensorInfo &tensor, double *values) const {
  readScaled(tensor, values);
}

void Session::read(const TensorInfo &tensor, float *values) const {
  readScaled(tensor, values);
}

} // namespace tessera
