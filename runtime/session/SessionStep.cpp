//===- SessionStep.cpp - one optimizer step -------------------------------===//
#include "runtime/session/Session.h"
#include "runtime/session/StepInputs.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

namespace tessera {

using Clock = std::chrono::steady_clock;

// After a failure, ranks that still compute get this long to come back (at most
// the timeout) before the step returns without them.
static constexpr std::chrono::milliseconds longestGrace{2000};

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

/// Negative labels are for models that ignore them, and one must count.
void Session::checkLabels(const Tokens &given) const {
  const Model &model = metadata().model;
  int64_t counted = 0, length = model.labels();
  std::vector<int32_t> labels(model.batch * length);
  given(0, model.batch * length, labels.data());
  for (int64_t i = 0; i < model.batch * length; ++i) {
    counted += labels[i] >= 0;
    if (labels[i] >= model.vocabulary)
      fail(TSR_INVALID_ARGUMENT, "label ", labels[i], " at position ",
           i % length, " of sequence ", i / length,
           " is outside of the vocabulary of ", model.vocabulary);
  }
  if (counted == 0)
    fail(TSR_INVALID_ARGUMENT,
         model.decoder ? "all labels are padding or negative, which is ignored;"
                       : "all labels are negative, which is ignored;",
         " at least one must count");
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
  fillScalar(rank, "lr", schedule.at(stepNumber));
  fillScalar(rank, "bias_correction1",
             biasCorrection(optimizer.beta1, stepNumber));
  fillScalar(rank, "bias_correction2",
             biasCorrection(optimizer.beta2, stepNumber));
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

void Session::runStep(const StepInputs &inputs) {
  for (auto &rank : core->ranks)
    rank->communicator->entered();
  Watch watch(*this);
  auto fill = [&](Rank &rank) {
    try {
      fillInputs(rank, inputs);
    } catch (...) {
      Status why = currentStatus();
      rank.communicator->abort(
          {why.code,
           concat("the inputs of rank ", rank.number, ": ", why.message)});
    }
    watch.filled();
  };
  // Of what is the caller's only `fill` makes use.
  auto job = [core = core, &fill, step = stepNumber,
              seed = seedValue](int64_t number) {
    Rank &rank = *core->ranks[number];
    fill(rank);
    runProgram(rank, step, seed);
  };
  Status status =
      threads.run(job, [&](int64_t running) { return watch.givesUp(running); });
  death = core->failed() ? core->failure() : status;
  if (!death.ok())
    throw Error(death);
}

void Session::traceNextStep(const std::string &path) {
  checkAlive();
  tracePath = path;
}

void Session::startTrace() {
  for (auto &rank : core->ranks) {
    rank->trace = std::make_unique<RankTrace>();
    rank->trace->program.events.reserve(metadata().ops.size());
    rank->trace->background.events.reserve(metadata().ops.size());
  }
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
  if (!tracePath.empty())
    startTrace();
  runStep(inputs);
  tsr_step_result result;
  result.loss = readScalar("loss");
  result.grad_norm = readScalar("grad_norm");
  result.lr = schedule.at(stepNumber);
  result.step = stepNumber++;
  if (!tracePath.empty())
    finishTrace();
  return result;
}

void Session::checkReady() const {
  checkAlive();
  if (!ready)
    fail(TSR_INVALID_ARGUMENT, "the parameters are undefined; call "
                               "tsr_session_init or tsr_session_load first");
}

tsr_step_result Session::step(const int32_t *tokens, size_t count) {
  checkReady();
  checkTokens(tokens, count);
  StepInputs inputs = inputsOf(metadata().model, tokens, seedValue, stepNumber);
  if (metadata().model.decoder)
    checkLabels(inputs.labels);
  return stepOn(inputs);
}

tsr_step_result Session::step(const tsr_batch &batch) {
  checkReady();
  const Model &model = metadata().model;
  checkRange("token", batch.ids, model.vocabulary);
  StepInputs inputs = inputsOf(model, batch);
  if (model.ignoresLabels())
    checkLabels(inputs.labels);
  else
    checkRange("label", batch.labels, model.vocabulary);
  int64_t types = model.tokenTypes;
  if (batch.token_types && types == 0)
    fail(TSR_INVALID_ARGUMENT,
         "the model has no token types; leave token_types NULL");
  if (batch.token_types)
    checkRange("token type", batch.token_types, types);
  return stepOn(inputs);
}

} // namespace tessera
