//===- SessionStep.cpp - one optimizer step
//-----------------------------------===
#include "Session.h"
#include "Sharding.h"
#include "TokenMask.h"

#include <algorithm>
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
  for (size_t i = 0; i < count; ++i)
    if (tokens[i] < 0 || tokens[i] >= model.vocabulary)
      fail(TSR_INVALID_ARGUMENT, "token ", tokens[i], " at position ",
           i % columns, " of sequence ", i / columns,
           " is outside of the vocabulary of ", model.vocabulary,
           "; use the tokenizer that the model was configured for");
}

/// The input's element at every index of [batch, sequence].
static void fillTokens(Rank &rank, const char *name, const TokenAt &at) {
  const TensorInfo *tensor = rank.metadata->find(Role::Input, name);
  if (!tensor || !at)
    return;
  writeShard(rank, *tensor, [&](int64_t first, int64_t count, double *out) {
    for (int64_t i = 0; i < count; ++i)
      out[i] = at(first + i);
  });
}

/// The decoder predicts each label from those before it (Hugging Face's
/// _shift_right): behind the start token, with padding for ignored ones.
static TokenAt shiftedRight(const Decoder &decoder, const TokenAt &labels) {
  return [=](int64_t index) {
    if (index % decoder.target == 0)
      return static_cast<int32_t>(decoder.start);
    int32_t label = labels(index - 1);
    return label < 0 ? static_cast<int32_t>(decoder.padding) : label;
  };
}

/// Rows of a source and its target, whose padding is no label.
static StepInputs pairs(const Model &model, const int32_t *tokens) {
  constexpr int32_t ignored = -100;
  const Decoder &decoder = *model.decoder;
  int64_t sequence = model.sequence, columns = model.columns();
  StepInputs inputs;
  inputs.ids = [=](int64_t index) {
    return tokens[index / sequence * columns + index % sequence];
  };
  inputs.labels = [=](int64_t index) {
    int32_t token = tokens[index / decoder.target * columns + sequence +
                           index % decoder.target];
    return token == decoder.padding ? ignored : token;
  };
  inputs.decoderIds = shiftedRight(decoder, inputs.labels);
  return inputs;
}

/// A causal model predicts the next token, a masked one what is hidden, a
/// decoder the target.
StepInputs Session::inputsOf(const int32_t *tokens) const {
  if (metadata().model.decoder)
    return pairs(metadata().model, tokens);
  int64_t sequence = metadata().model.sequence;
  auto at = [=](int64_t index, int64_t shift) {
    return tokens[index / sequence * (sequence + 1) + index % sequence + shift];
  };
  StepInputs inputs;
  inputs.tokenTypes = [](int64_t) { return 0; };
  if (!metadata().model.maskToken) {
    inputs.ids = [=](int64_t index) { return at(index, 0); };
    inputs.labels = [=](int64_t index) { return at(index, 1); };
    return inputs;
  }
  TokenMask mask(metadata().model, seedValue, stepNumber);
  inputs.ids = [=](int64_t index) { return mask.id(index, at(index, 0)); };
  inputs.labels = [=](int64_t index) {
    return mask.label(index, at(index, 0));
  };
  return inputs;
}

void Session::checkRange(const char *what, const int32_t *values,
                         int64_t limit) const {
  const Model &model = metadata().model;
  for (int64_t i = 0; i < model.batch * model.sequence; ++i)
    if (values[i] < 0 || values[i] >= limit)
      fail(TSR_INVALID_ARGUMENT, what, " ", values[i], " at position ",
           i % model.sequence, " of sequence ", i / model.sequence,
           " is not in [0, ", limit, ")");
}

/// Negative labels are for models that ignore them, and one must count.
void Session::checkLabels(const TokenAt &labels) const {
  const Model &model = metadata().model;
  int64_t counted = 0, length = model.labels();
  for (int64_t i = 0; i < model.batch * length; ++i) {
    int32_t label = labels(i);
    counted += label >= 0;
    if (label >= model.vocabulary)
      fail(TSR_INVALID_ARGUMENT, "label ", label, " at position ", i % length,
           " of sequence ", i / length, " is outside of the vocabulary of ",
           model.vocabulary);
  }
  if (counted == 0)
    fail(TSR_INVALID_ARGUMENT,
         model.decoder ? "all labels are padding or negative, which is ignored;"
                       : "all labels are negative, which is ignored;",
         " at least one must count");
}

void Session::fillInputs(const StepInputs &inputs) {
  const Optimizer &optimizer = metadata().optimizer;
  onEveryRank([&](Rank &rank) {
    fillTokens(rank, "ids", inputs.ids);
    fillTokens(rank, "labels", inputs.labels);
    fillTokens(rank, "token_types", inputs.tokenTypes);
    fillTokens(rank, "decoder_ids", inputs.decoderIds);
  });
  fillScalar("lr", schedule.at(stepNumber));
  fillScalar("bias_correction1", biasCorrection(optimizer.beta1, stepNumber));
  fillScalar("bias_correction2", biasCorrection(optimizer.beta2, stepNumber));
}

void Session::fillScalar(const char *name, double value) {
  const TensorInfo *tensor = metadata().find(Role::Input, name);
  if (!tensor)
    return;
  for (auto &rank : core->ranks)
    writeScalar(*rank, *tensor, value);
}

double Session::readScalar(const char *name) const {
  const TensorInfo *tensor = metadata().find(Role::Output, name);
  return tensor ? tessera::readScalar(*core->ranks[0], *tensor)
                : std::numeric_limits<double>::quiet_NaN();
}

void Session::runStep() {
  for (auto &rank : core->ranks)
    rank->communicator->entered();
  auto job = [core = core, step = stepNumber, seed = seedValue](int64_t rank) {
    runProgram(*core->ranks[rank], step, seed);
  };
  auto grace = std::min(timeout, longestGrace);
  Clock::time_point failedAt{}, firstDone{};
  auto giveUp = [&](int64_t running) {
    Clock::time_point now = Clock::now();
    bool someDone = running < static_cast<int64_t>(core->ranks.size());
    if (someDone && firstDone == Clock::time_point{})
      firstDone = now;
    if (someDone && !core->failed() && now - firstDone > timeout)
      core->world->abortStragglers(); // one rank is never some of several
    if (core->failed() && failedAt == Clock::time_point{})
      failedAt = now;
    return core->failed() && now - failedAt > grace;
  };
  Status status = threads.run(job, giveUp);
  death = core->failed() ? core->failure() : status;
  if (!death.ok())
    throw Error(death);
}

void Session::traceNextStep(const std::string &path) {
  checkAlive();
  if (metadata().device != "cpu")
    fail(TSR_UNSUPPORTED, "device '", metadata().device,
         "' runs its ops behind the host's back; trace a step with its own "
         "profiler (nsys), or on device 'cpu'");
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
  fillInputs(inputs);
  if (!tracePath.empty())
    startTrace();
  runStep();
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
  StepInputs inputs = inputsOf(tokens);
  if (metadata().model.decoder)
    checkLabels(inputs.labels);
  return stepOn(inputs);
}

tsr_step_result Session::step(const tsr_batch &batch) {
  checkReady();
  const Model &model = metadata().model;
  checkRange("token", batch.ids, model.vocabulary);
  auto from = [](const int32_t *values) {
    return [=](int64_t index) { return values[index]; };
  };
  if (model.ignoresLabels())
    checkLabels(from(batch.labels));
  else
    checkRange("label", batch.labels, model.vocabulary);
  int64_t types = model.tokenTypes;
  if (batch.token_types && types == 0)
    fail(TSR_INVALID_ARGUMENT,
         "the model has no token types; leave token_types NULL");
  if (batch.token_types)
    checkRange("token type", batch.token_types, types);
  StepInputs inputs;
  inputs.ids = from(batch.ids);
  inputs.labels = from(batch.labels);
  inputs.tokenTypes = [](int64_t) { return 0; };
  if (batch.token_types)
    inputs.tokenTypes = from(batch.token_types);
  if (model.decoder)
    inputs.decoderIds = shiftedRight(*model.decoder, inputs.labels);
  return stepOn(inputs);
}

} // namespace tessera
