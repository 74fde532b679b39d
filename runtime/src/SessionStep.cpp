//===- SessionStep.cpp - one optimizer step
//-----------------------------------===
#include "Session.h"
#include "Sharding.h"

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
  int64_t columns = model.sequence + 1;
  size_t expected = static_cast<size_t>(model.batch * columns);
  if (count != expected)
    fail(TSR_INVALID_ARGUMENT, "the step got ", count, " tokens, it takes ",
         expected, " = ", model.batch, " sequences of ", model.sequence,
         " + 1 tokens");
  for (size_t i = 0; i < count; ++i)
    if (tokens[i] < 0 || tokens[i] >= model.vocabulary)
      fail(TSR_INVALID_ARGUMENT, "token ", tokens[i], " at position ",
           i % columns, " of sequence ", i / columns,
           " is outside of the vocabulary of ", model.vocabulary,
           "; use the tokenizer that the model was configured for");
}

/// Column `shift` onwards of every row of `tokens`, cut as the input is.
static void fillTokens(Rank &rank, const TensorInfo *tensor,
                       const int32_t *tokens, int64_t shift) {
  if (!tensor)
    return;
  int64_t sequence = rank.metadata->model.sequence;
  writeShard(rank, *tensor, [&](int64_t first, int64_t count, double *out) {
    for (int64_t i = 0; i < count; ++i) {
      int64_t row = (first + i) / sequence, column = (first + i) % sequence;
      out[i] = tokens[row * (sequence + 1) + column + shift];
    }
  });
}

void Session::fillInputs(const int32_t *tokens) {
  const Optimizer &optimizer = metadata().optimizer;
  const TensorInfo *ids = metadata().find(Role::Input, "ids");
  const TensorInfo *labels = metadata().find(Role::Input, "labels");
  onEveryRank([&](Rank &rank) {
    fillTokens(rank, ids, tokens, 0);
    fillTokens(rank, labels, tokens, 1);
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
    if (someDone && !core->world->failed() && now - firstDone > timeout)
      core->world->abortStragglers();
    if (core->world->failed() && failedAt == Clock::time_point{})
      failedAt = now;
    return core->world->failed() && now - failedAt > grace;
  };
  Status status = threads.run(job, giveUp);
  death = core->world->failed() ? core->world->failure() : status;
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

tsr_step_result Session::step(const int32_t *tokens, size_t count) {
  checkAlive();
  if (!ready)
    fail(TSR_INVALID_ARGUMENT, "the parameters are undefined; call "
                               "tsr_session_init or tsr_session_load first");
  checkTokens(tokens, count);
  fillInputs(tokens);
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

} // namespace tessera
