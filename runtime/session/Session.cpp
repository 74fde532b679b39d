#include "runtime/session/Session.h"

#include "runtime/session/Initializer.h"
#include "runtime/session/Quantize.h"
#include "runtime/session/StepInputs.h"
#include "runtime/support/ThreadTeam.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
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
    : core(makeCore(artifact, options, std::move(device))),
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

void Session::onEveryRank(const std::function<void(Rank &)> &body) {
  checkAlive();
  Status status =
      threads.run([&](int64_t number) { body(*core->ranks[number]); });
  if (!status.ok())
    throw Error(status);
}

namespace {
/// A rank's threads for as long as this lives.
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

void Session::checkTokens(const int32_t *tokens, size_t count) const {
  const Model &model = metadata().model;
  int64_t columns = model.columns();
  size_t expected = static_cast<size_t>(model.batch * columns);
  if (count != expected)
    fail(TSR_INVALID_ARGUMENT, "the step got ", count, " tokens, it takes ",
         expected, " = ", model.batch, " sequences of ", model.sequence, " + ",
         columns - model.sequence, " tokens");
  if (areWithin(tokens, model.batch * columns, model.vocabulary))
    return;
  for (size_t i = 0; i < count; ++i)
    if (tokens[i] < 0 || tokens[i] >= model.vocabulary)
      fail(TSR_INVALID_ARGUMENT, "token ", tokens[i], " at position ",
           i % columns, " of sequence ", i / columns,
           " is outside of the vocabulary of ", model.vocabulary,
           "; use the tokenizer that the model was configured for");
}

void Session::checkRange(const char *what, const int32_t *values,
                         int64_t limit) const {
  const Model &model = metadata().model;
  if (areWithin(values, model.batch * model.sequence, limit))
    return;
  for (int64_t i = 0; i < model.batch * model.sequence; ++i)
    if (values[i] < 0 || values[i] >= limit)
      fail(TSR_INVALID_ARGUMENT, what, " ", values[i], " at position ",
           i % model.sequence, " of sequence ", i / model.sequence,
           " is not in [0, ", limit, ")");
}

/// Negative labels are for models that ignore them, and one must count. Any
/// other model's are right if they are below the vocabulary.
void Session::checkLabels(const Tokens &given, LabelUse use) const {
  const Model &model = metadata().model;
  const bool mayIgnore =
      model.ignoresLabels() ||
      (use == LabelUse::Evaluation && metadata().evaluationCounts());
  int64_t counted = 0, length = model.labels();
  std::vector<int32_t> labels(model.batch * length);
  given(0, model.batch * length, labels.data());
  for (int64_t i = 0; i < model.batch * length; ++i) {
    counted += labels[i] >= 0;
    if (labels[i] < 0 && !mayIgnore)
      fail(TSR_INVALID_ARGUMENT, "label ", labels[i], " at position ",
           i % length, " of sequence ", i / length,
           " is negative, but the model counts all labels; compile it with "
           "--ignore-labels");
    if (labels[i] >= model.vocabulary)
      fail(TSR_INVALID_ARGUMENT, "label ", labels[i], " at position ",
           i % length, " of sequence ", i / length,
           " is outside of the vocabulary of ", model.vocabulary);
  }
  if (counted == 0)
    fail(TSR_INVALID_ARGUMENT,
         "no label of the batch counts, so there is no loss: all are ",
         model.decoder ? "padding or negative" : "negative",
         ", which is ignored; leave the batch out, or give at least one label "
         "that is a token");
}

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
  // A step that was skipped is in no moment.
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

/// When a step whose ranks do not all come back is given up. The inputs belong
/// to the caller: not before all ranks have read them.
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
  // Of what is the caller's only `fill` makes use.
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
  // The program's own decision, the same bits on every rank.
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
  checkTokens(tokens, count);
  const Model &model = metadata().model;
  StepInputs inputs = inputsOf(model, tokens, seed(), nextStep());
  // No place in data may end a run: such a step is skipped.
  inputs.hasLabels = !model.ignoresLabels() || anyCounts(model, inputs.labels);
  return inputs;
}

StepInputs Session::inputsFor(const tsr_batch &batch, LabelUse use) const {
  checkReady();
  const Model &model = metadata().model;
  checkRange("token", batch.ids, model.vocabulary);
  StepInputs inputs = inputsOf(model, batch);
  if (model.ignoresLabels() || model.hasSegments() ||
      !areWithin(batch.labels, model.batch * model.sequence, model.vocabulary))
    checkLabels(inputs.labels, use);
  int64_t types = model.tokenTypes;
  if (batch.token_types && types == 0)
    fail(TSR_INVALID_ARGUMENT,
         "the model has no token types; leave token_types NULL");
  if (batch.token_types)
    checkRange("token type", batch.token_types, types);
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

int64_t Session::evaluatedSequences(size_t count) const {
  const Model &model = metadata().model;
  const auto given = static_cast<int64_t>(count);
  const int64_t columns = model.columns(), sequences = given / columns;
  if (given < columns || given % columns != 0 || sequences >= model.batch)
    return model.batch; // where it is not, checkTokens says so
  if (!metadata().evaluationCounts())
    fail(TSR_UNSUPPORTED, "the batch has ", sequences, " of ", model.batch,
         " sequences, and the program of the artifact counts the labels of "
         "all; give ",
         model.batch, ", or compile the model again");
  return sequences;
}

/// A batch that is not whole is filled up with copies of its first sequence,
/// whose labels do not count.
tsr_evaluation Session::evaluate(const int32_t *tokens, size_t count,
                                 int64_t number) {
  checkReady();
  const Model &model = metadata().model;
  const int64_t sequences = evaluatedSequences(count);
  std::vector<int32_t> whole;
  if (sequences < model.batch) {
    whole.assign(tokens, tokens + count);
    whole.reserve(static_cast<size_t>(model.batch * model.columns()));
    for (int64_t row = sequences; row < model.batch; ++row)
      whole.insert(whole.end(), tokens, tokens + model.columns());
    tokens = whole.data();
    count = whole.size();
  }
  checkTokens(tokens, count);
  const auto first = static_cast<int64_t>(static_cast<uint64_t>(number) *
                                          static_cast<uint64_t>(model.batch));
  const StepInputs inputs = evaluationInputsOf(model, tokens, sequences, first);
  if (!metadata().evaluationCounts())
    checkLabels(inputs.labels, LabelUse::Evaluation);
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
// What the processes of a session agree on
//===----------------------------------------------------------------------===//

namespace {
/// A call between the steps: the rank is in it, so that nobody thinks that it
/// has left for good.
class Between {
public:
  explicit Between(Communicator &communicator) : communicator(communicator) {
    communicator.entered();
  }
  ~Between() { communicator.left(); }

private:
  Communicator &communicator;
};

/// What a process does by itself, with files or its device.
class ByItself {
public:
  explicit ByItself(Communicator &communicator) : communicator(communicator) {
    communicator.worksOnFiles(true);
  }
  ~ByItself() { communicator.worksOnFiles(false); }

private:
  Communicator &communicator;
};

/// A process's failure on its way to the others.
struct Note {
  int32_t code;
  char text[1020];
};

void check(const Status &status) {
  if (!status.ok())
    throw Error(status);
}
} // namespace

Collective Session::overAll(int64_t count, int dtype) const {
  Collective call;
  call.axes = (int64_t(1) << metadata().mesh.axes.size()) - 1;
  call.count = count;
  call.dtype = dtype;
  return call;
}

/// The first failure by rank; OK if no process has one.
Status Session::gatherFailure(const Status &own) const {
  int64_t ranks = metadata().mesh.ranks();
  Note note{};
  note.code = own.code;
  std::strncpy(note.text, own.message.c_str(), sizeof note.text - 1);
  std::vector<Note> notes(ranks);
  check(core->communicator().allGather(
      overAll(sizeof(Note) / sizeof(int32_t), TSR_DTYPE_I32), &note,
      notes.data()));
  for (int64_t rank = 0; own.ok() && rank < ranks; ++rank)
    if (notes[rank].code != TSR_OK)
      return {static_cast<tsr_status>(notes[rank].code),
              concat("rank ", rank, ": ", notes[rank].text)};
  return own;
}

void Session::together(const std::function<void()> &body) const {
  if (hasAllRanks())
    return body();
  Between between(core->communicator());
  Status status;
  try {
    ByItself work(core->communicator());
    body();
  } catch (...) {
    status = currentStatus();
  }
  check(core->failed() && !status.ok() ? status : gatherFailure(status));
}

int32_t Session::largest(int32_t value) const {
  checkAlive();
  if (hasAllRanks())
    return value;
  Collective call = overAll(1, TSR_DTYPE_I32);
  call.reduction = TSR_REDUCE_MAX;
  Between between(core->communicator());
  check(core->communicator().allReduce(call, &value));
  return value;
}

std::vector<int64_t> Session::gatherAll(int64_t value) const {
  std::vector<int64_t> values(metadata().mesh.ranks());
  Between between(core->communicator());
  check(core->communicator().allGather(overAll(2, TSR_DTYPE_I32), &value,
                                       values.data()));
  return values;
}

std::vector<std::string> Session::gatherTexts(const std::string &text) const {
  std::vector<int64_t> lengths = gatherAll(static_cast<int64_t>(text.size()));
  // Each process sends as many words of 32 bits.
  int64_t words = *std::max_element(lengths.begin(), lengths.end()) / 4 + 1;
  std::string own = text, all(4 * words * lengths.size(), '\0');
  own.resize(4 * words);
  Between between(core->communicator());
  check(core->communicator().allGather(overAll(words, TSR_DTYPE_I32),
                                       own.data(), all.data()));
  std::vector<std::string> texts;
  for (size_t rank = 0; rank < lengths.size(); ++rank)
    texts.push_back(all.substr(4 * words * rank, lengths[rank]));
  return texts;
}

void Session::checkSame(const std::string &what, int64_t value) const {
  if (hasAllRanks())
    return;
  std::vector<int64_t> values = gatherAll(value);
  for (size_t rank = 1; rank < values.size(); ++rank)
    if (values[rank] != values[0])
      fail(TSR_MISMATCH, what, " is ", values[0], " for rank 0 and ",
           values[rank], " for rank ", rank,
           "; all processes must see the same files");
}

/// What the first process has gathered goes to all.
template <class Value>
void Session::readValues(const TensorInfo &tensor, Value *values) const {
  checkAlive();
  if (hasAllRanks())
    return readGlobal(core->ranks, tensor, values);
  Between between(core->communicator());
  readGlobal(core->ranks, tensor, values);
  constexpr auto dtype = sizeof *values == 8 ? TSR_DTYPE_F64 : TSR_DTYPE_F32;
  Collective call = overAll(tensor.elements(), dtype);
  check(core->communicator().broadcast(call, 0, values));
}

/// Of integers with scales the values that they stand for.
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
