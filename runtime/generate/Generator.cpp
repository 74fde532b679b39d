#include "runtime/generate/Generator.h"

#include "runtime/support/DType.h"
#include "tessera/abi.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

namespace tessera {

static const Generation &sizesOf(const Session &session) {
  if (!session.metadata().model.generation)
    fail(TSR_UNSUPPORTED, "the artifact has no programs that generate; compile "
                          "the model with --programs generate, or "
                          "train,generate");
  if (!session.hasAllRanks())
    fail(TSR_UNSUPPORTED, "a generator needs all ranks in one process; leave "
                          "out world_size and rank");
  return *session.metadata().model.generation;
}

Generator::Generator(const Artifact &artifact, const SessionOptions &options)
    : owned(std::make_unique<Session>(artifact, options)), used(*owned),
      sizes(sizesOf(used)), checks(sizes, used.metadata().model.vocabulary),
      guard(sizes), placedSampling(sizes), scheduler(sizes) {}

Generator::Generator(Session &session)
    : used(session), sizes(sizesOf(used)),
      checks(sizes, used.metadata().model.vocabulary), guard(sizes),
      placedSampling(sizes), scheduler(sizes) {
  used.setRequests([this] { return active(); });
}

Generator::~Generator() {
  if (!owned)
    used.setRequests(nullptr);
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

int64_t Generator::add(const int32_t *prompt, size_t count,
                       const RequestOptions &options) {
  checks.checkRequest(prompt, count, options);
  auto request = std::make_unique<Request>();
  const bool hasSource = sizes.source > 0;
  (hasSource ? request->source : request->tokens)
      .assign(prompt, prompt + count);
  if (hasSource)
    request->tokens = {
        static_cast<int32_t>(used.metadata().model.decoder->start)};
  const auto given = static_cast<int64_t>(request->tokens.size());
  request->most = sizes.places;
  if (options.maxNewTokens > 0 && options.maxNewTokens < sizes.places - given)
    request->most = given + options.maxNewTokens;
  request->sampling = options.sampling;
  request->stops = options.stops;
  request->listener = options.listener;
  // The caches of a decoder depend on the source, too.
  request->isRecomputed = options.isRecomputed || hasSource;
  std::lock_guard<std::mutex> lock(mutex);
  request->id = ++lastId;
  scheduler.add(std::move(request));
  added.notify_all();
  return lastId;
}

int64_t Generator::score(const int32_t *tokens, size_t count, size_t given,
                         const ScoreOptions &options) {
  used.programOf(RowProgram::Score);
  checks.checkScored(tokens, count, given);
  auto request = std::make_unique<Request>();
  request->tokens.assign(tokens, tokens + count);
  request->given = static_cast<int64_t>(given);
  request->scoreListener = options.listener;
  request->isRecomputed = options.isRecomputed;
  std::lock_guard<std::mutex> lock(mutex);
  request->id = ++lastId;
  scheduler.add(std::move(request));
  added.notify_all();
  return lastId;
}

Ending Generator::takeScores(int64_t id, tsr_token_score *out, size_t count) {
  std::lock_guard<std::mutex> lock(mutex);
  if (const Request *request = scheduler.find(id);
      request && request->isScored() && !request->scoreListener.call)
    return Ending::None;
  auto found = scored.find(id);
  if (found == scored.end())
    fail(TSR_NOT_FOUND, "request ", id,
         " has no scores: it scores no tokens, its scores were taken, or its "
         "listener gets them");
  const Scored &result = found->second;
  if (result.ending == Ending::Scored && count != result.scores.size())
    fail(TSR_INVALID_ARGUMENT, "request ", id, " has ", result.scores.size(),
         " scores, but the call has room for ", count);
  const Ending ending = result.ending;
  std::copy(result.scores.begin(), result.scores.end(), out);
  scored.erase(found);
  return ending;
}

bool Generator::cancel(int64_t id) {
  std::lock_guard<std::mutex> lock(mutex);
  Request *request = scheduler.find(id);
  if (request)
    request->isCancelled = true;
  return request != nullptr;
}

bool Generator::next(Generated &out) {
  std::lock_guard<std::mutex> lock(mutex);
  if (results.empty())
    return false;
  out = std::move(results.front());
  results.pop_front();
  return true;
}

int64_t Generator::active() const {
  std::lock_guard<std::mutex> lock(mutex);
  return scheduler.active();
}

int64_t Generator::wait(int64_t milliseconds) {
  std::unique_lock<std::mutex> lock(mutex);
  auto isActive = [&] { return scheduler.active() > 0; };
  if (milliseconds < 0)
    added.wait(lock, isActive);
  else
    added.wait_for(lock, std::chrono::milliseconds(milliseconds), isActive);
  return scheduler.active();
}

//===----------------------------------------------------------------------===//
// A step
//===----------------------------------------------------------------------===//

/// The data of the program: [lanes, rows] each, and [lanes, slots] of `last`,
/// which a step that scores does not read.
struct Generator::Inputs {
  Inputs(const StepRows &step, int64_t rows, const SlotGuard &guard) {
    const auto lanes = static_cast<int64_t>(step.rows.size());
    ids.assign(lanes * rows, 0); // nobody has the rows that stay so
    positions = sources = ids;
    slots.assign(lanes * rows, -1);
    labels = slots;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      int64_t at = lane * rows;
      for (const RowOfStep &row : step.rows[lane]) {
        ids[at] = row.token;
        slots[at] = static_cast<int32_t>(row.slot);
        labels[at] = row.label;
        sources[at] = static_cast<int32_t>(
            row.slot < 0 ? 0 : guard.lastOfSource(lane, row.slot));
        positions[at++] = static_cast<int32_t>(row.position);
      }
      last.insert(last.end(), step.last[lane].begin(), step.last[lane].end());
    }
  }

  std::vector<int32_t> ids, slots, positions, last, labels, sources;
};

static void writeRows(const Rank &rank, const std::string &name,
                      const std::vector<int32_t> &values) {
  const TensorInfo *tensor = rank.metadata->find(Role::Input, name);
  if (tensor && rank.holds(*tensor))
    writeTokens(rank, *tensor, [&](int64_t first, int64_t count, int32_t *out) {
      std::copy_n(values.data() + first, count, out);
    });
}

SamplingInputs Generator::samplingOf(const StepRows &rows) {
  std::lock_guard<std::mutex> lock(mutex);
  if (scheduler.active() == 0)
    return placedSampling;
  SamplingInputs made(sizes);
  for (int64_t lane = 0; lane < sizes.lanes; ++lane)
    for (int64_t slot = 0; slot < sizes.slots; ++slot)
      if (const Request *request = scheduler.at(lane, slot);
          request && rows.last[lane][slot] >= 0)
        made.set(lane, slot, request->sampling, request->tokens);
  return made;
}

const TensorInfo &Generator::logitsOfStep() const {
  return *used.metadata().find(Role::Output, program + "_logits");
}

void Generator::run(const StepRows &rows) {
  const bool isDecode = !rows.scores && rows.mostRows() <= sizes.slots;
  const RowProgram which = rows.scores ? RowProgram::Score
                           : isDecode  ? RowProgram::Decode
                                       : RowProgram::Mixed;
  program = rows.scores ? "score" : isDecode ? "decode" : "mixed";
  const Inputs inputs(rows, isDecode ? sizes.slots : sizes.mixedRows(), guard);
  std::optional<SamplingInputs> sampling;
  if (sizes.candidates && !rows.scores)
    sampling = samplingOf(rows);
  used.runRows(which, [&](Rank &rank) {
    writeRows(rank, program + "_ids", inputs.ids);
    writeRows(rank, program + "_slots", inputs.slots);
    writeRows(rank, program + "_positions", inputs.positions);
    writeRows(rank, program + "_last", inputs.last);
    writeRows(rank, program + "_labels", inputs.labels);
    writeRows(rank, program + "_sources", inputs.sources);
    if (sampling)
      sampling->write(rank, program);
  });
}

/// Runs at most one source in each lane. Padding has no segment and no slot; a
/// lane without a source runs a token that nobody has.
void Generator::runEncoder(const std::vector<SourceOfStep> &sources) {
  std::vector<int32_t> ids(sizes.lanes * sizes.source, 0), positions(ids);
  std::vector<int32_t> segments(ids.size(), -1), slots(segments);
  for (int64_t lane = 0; lane < sizes.lanes; ++lane)
    segments[lane * sizes.source] = 0;
  for (const SourceOfStep &each : sources)
    for (size_t i = 0; i < each.tokens.size(); ++i) {
      const size_t at = each.lane * sizes.source + i;
      ids[at] = each.tokens[i];
      positions[at] = static_cast<int32_t>(i);
      segments[at] = 0;
      slots[at] = static_cast<int32_t>(each.slot);
    }
  used.runRows(RowProgram::Encode, [&](Rank &rank) {
    writeRows(rank, "encode_ids", ids);
    writeRows(rank, "encode_positions", positions);
    writeRows(rank, "encode_segments", segments);
    writeRows(rank, "encode_slots", slots);
  });
  for (const SourceOfStep &each : sources)
    guard.encoded(each);
}

void Generator::encode(std::vector<SourceOfStep> sources) {
  while (!sources.empty()) {
    std::vector<SourceOfStep> now, later;
    std::vector<bool> isTaken(sizes.lanes, false);
    for (SourceOfStep &each : sources) {
      auto &when = isTaken[each.lane] ? later : now;
      isTaken[each.lane] = true;
      when.push_back(std::move(each));
    }
    runEncoder(now);
    sources = std::move(later);
  }
}

void Generator::give(Generated made) {
  if (made.listener.call)
    told.push_back(std::move(made));
  else
    results.push_back(std::move(made));
}

void Generator::end(Request &request, Generated last) {
  give(std::move(last));
  scheduler.remove(request.id);
}

/// Takes the token that follows the request's last one.
void Generator::accept(Request &request, Choice choice) {
  Generated made{request.id,
                 choice.token,
                 choice.logProbability,
                 Ending::None,
                 std::move(choice.alternatives),
                 request.listener};
  if (choice.token < 0) {
    made.ending = Ending::Failed;
    return end(request, std::move(made));
  }
  request.tokens.push_back(choice.token);
  auto stop =
      std::find(request.stops.begin(), request.stops.end(), choice.token);
  if (stop != request.stops.end())
    made.ending = Ending::Stop;
  else if (static_cast<int64_t>(request.tokens.size()) >= request.most)
    made.ending = Ending::Length;
  if (made.ending != Ending::None)
    return end(request, std::move(made));
  give(std::move(made));
}

void Generator::takeNote(const StepRows &rows) {
  for (int64_t lane = 0; lane < sizes.lanes; ++lane)
    for (const RowOfStep &row : rows.rows[lane])
      scheduler.ran(*scheduler.at(lane, row.slot), row.position);
}

/// Calls `choose(lane, slot, request)` for each slot that wants a token.
template <class Choose>
void Generator::acceptEach(const StepRows &rows, const Choose &choose) {
  std::lock_guard<std::mutex> lock(mutex);
  takeNote(rows);
  for (int64_t lane = 0; lane < sizes.lanes; ++lane)
    for (int64_t slot = 0; slot < sizes.slots; ++slot) {
      Request *request = scheduler.at(lane, slot);
      if (rows.last[lane][slot] >= 0 && request)
        accept(*request, choose(lane, slot, *request));
    }
}

template <class Logit> void Generator::deliver(const StepRows &rows) {
  const int64_t vocabulary = used.metadata().model.vocabulary;
  const TensorInfo &logits = logitsOfStep();
  std::vector<Logit> values;
  if (rows.wantsLogits()) {
    values.resize(logits.elements());
    used.read(logits, values.data());
  }
  acceptEach(rows, [&](int64_t lane, int64_t slot, const Request &request) {
    const Logit *own = values.data() + (lane * sizes.slots + slot) * vocabulary;
    return sampler.choose(own, vocabulary, request.sampling, request.tokens);
  });
}

void Generator::deliverBest(const StepRows &rows) {
  std::optional<StepCandidates> candidates;
  if (rows.wantsLogits())
    candidates.emplace(used, program);
  acceptEach(rows, [&](int64_t lane, int64_t slot, const Request &request) {
    double leftOut = 0;
    Choice choice =
        sampler.choose(candidates->at(lane, slot),
                       used.metadata().model.vocabulary, request.sampling,
                       static_cast<int64_t>(request.tokens.size()), &leftOut);
    mostLeftOut = std::max(mostLeftOut, leftOut);
    return choice;
  });
}

/// Returns the scores of each lane's rows in turn; those of rows without a
/// label mean nothing. A label is the prediction if no logit comes before its
/// own.
std::vector<tsr_token_score> Generator::readScores(const StepRows &rows) const {
  const Metadata &metadata = used.metadata();
  const int64_t stride = sizes.mixedRows();
  std::vector<double> logs(sizes.lanes * stride), ranks(logs.size());
  used.read(*metadata.find(Role::Output, "score_log_probabilities"),
            logs.data());
  used.read(*metadata.find(Role::Output, "score_label_ranks"), ranks.data());
  std::vector<tsr_token_score> scores;
  for (int64_t lane = 0; lane < sizes.lanes; ++lane)
    for (size_t k = 0; k < rows.rows[lane].size(); ++k) {
      const size_t at = lane * stride + k;
      scores.push_back({logs[at], ranks[at] == 0});
    }
  return scores;
}

void Generator::endScored(Request &request, Ending ending) {
  Scored result{request.id, ending, {}, request.scoreListener};
  if (ending == Ending::Scored)
    result.scores = std::move(request.scores);
  if (result.listener.call)
    toldScores.push_back(std::move(result));
  else
    scored[request.id] = std::move(result);
  scheduler.remove(request.id);
}

void Generator::deliverScores(const StepRows &rows) {
  const std::vector<tsr_token_score> scores = readScores(rows);
  std::lock_guard<std::mutex> lock(mutex);
  takeNote(rows);
  size_t next = 0;
  for (int64_t lane = 0; lane < sizes.lanes; ++lane)
    for (const RowOfStep &row : rows.rows[lane]) {
      const tsr_token_score &score = scores[next++];
      Request *request = scheduler.at(lane, row.slot);
      if (row.label < 0 || !request) // it has failed at an earlier row
        continue;
      request->scores.push_back(score);
      if (std::isnan(score.log_probability))
        endScored(*request, Ending::Failed);
      else if (row.position + 1 == request->length())
        endScored(*request, Ending::Scored);
    }
}

void Generator::endCancelled() {
  for (int64_t id : scheduler.cancelled()) {
    Request &request = *scheduler.find(id);
    if (request.isScored())
      endScored(request, Ending::Cancelled);
    else
      end(request, {id, -1, 0, Ending::Cancelled, {}, request.listener});
  }
}

/// Calls listeners without the lock, since they may add and cancel requests.
void Generator::tellListeners() {
  std::vector<Generated> all;
  std::vector<Scored> allScores;
  {
    std::lock_guard<std::mutex> lock(mutex);
    all.swap(told);
    allScores.swap(toldScores);
  }
  for (const Generated &made : all) {
    const tsr_generated token = {made.request, made.token,
                                 static_cast<int32_t>(made.ending),
                                 made.logProbability};
    made.listener.call(made.listener.context, &token, made.alternatives.data(),
                       made.alternatives.size());
  }
  for (const Scored &result : allScores)
    result.listener.call(result.listener.context, result.request,
                         static_cast<int32_t>(result.ending),
                         result.scores.data(), result.scores.size());
}

int64_t Generator::step() {
  const int64_t rows = runPlanned();
  tellListeners();
  return rows;
}

double Generator::leftOut() const {
  std::lock_guard<std::mutex> lock(mutex);
  return mostLeftOut;
}

int64_t Generator::reused() const {
  std::lock_guard<std::mutex> lock(mutex);
  return reusedTokens;
}

void Generator::fork(const std::vector<Fork> &forks) {
  if (forks.empty())
    return;
  std::vector<PlaceCopy> copies;
  int64_t tokens = 0;
  for (const Fork &each : forks) {
    guard.fork(each.lane, each.from, each.to, each.count, each.request);
    copies.push_back({each.lane, each.from, each.to, each.count});
    tokens += each.count;
  }
  used.copyPlaces(copies);
  std::lock_guard<std::mutex> lock(mutex);
  reusedTokens += tokens;
}

int64_t Generator::runPlanned() {
  std::unique_lock<std::mutex> lock(mutex);
  endCancelled();
  if (knownChanges != used.changes())
    scheduler.forget();
  knownChanges = used.changes();
  const std::vector<Fork> forks = scheduler.admit();
  const StepRows rows = scheduler.plan();
  std::vector<SourceOfStep> sources = scheduler.takeSources();
  lock.unlock();
  fork(forks);
  encode(std::move(sources));
  int64_t count = 0;
  for (const auto &lane : rows.rows)
    count += static_cast<int64_t>(lane.size());
  if (count == 0)
    return 0;
  guard.take(rows);
  run(rows);
  if (rows.scores)
    deliverScores(rows);
  else if (sizes.candidates)
    deliverBest(rows);
  else if (logitsOfStep().dtype == TSR_DTYPE_F64)
    deliver<double>(rows);
  else
    deliver<float>(rows);
  return count;
}

//===----------------------------------------------------------------------===//
// Rows that the caller has placed
//===----------------------------------------------------------------------===//

void Generator::checkIdle(const char *what) const {
  if (active() > 0)
    fail(TSR_INVALID_ARGUMENT, active(), " requests wait or run; ", what,
         " can be placed where there are none");
}

void Generator::runPlaced(const StepRows &rows, double *out, size_t count) {
  checkIdle("rows");
  checks.checkRows(rows);
  const int64_t wanted =
      sizes.candidates
          ? 0
          : sizes.lanes * sizes.slots * used.metadata().model.vocabulary;
  if (count != static_cast<size_t>(wanted))
    fail(TSR_INVALID_ARGUMENT, "the logits of a step are ", wanted,
         " numbers, but the call has room for ", count,
         sizes.candidates ? "; steps of this artifact leave candidates" : "");
  guard.take(rows, TSR_INVALID_ARGUMENT);
  scheduler.forget();
  run(rows);
  if (!sizes.candidates)
    used.read(logitsOfStep(), out);
}

void Generator::placeSampling(int64_t lane, int64_t slot,
                              const Sampling &sampling,
                              const std::vector<int32_t> &text) {
  if (!sizes.candidates)
    fail(TSR_UNSUPPORTED, "steps of the artifact leave all logits, from which "
                          "the caller chooses");
  checkIdle("sampling");
  checks.checkPlace(lane, slot);
  if (static_cast<int64_t>(text.size()) > sizes.places)
    fail(TSR_INVALID_ARGUMENT, "the text has ", text.size(),
         " tokens, of at "
         "most ",
         sizes.places);
  checks.checkTokens("text", text.data(), text.size());
  checks.checkSampling(sampling);
  placedSampling.set(lane, slot, sampling, text);
}

void Generator::placeSource(const SourceOfStep &source) {
  if (sizes.source == 0)
    fail(TSR_UNSUPPORTED, "the model has no encoder, so a text has no source");
  checkIdle("sources");
  checks.checkPlace(source.lane, source.slot);
  checks.checkSource(source.tokens.data(), source.tokens.size());
  scheduler.forget();
  runEncoder({source});
}

std::vector<tsr_token_score> Generator::scorePlaced(const StepRows &rows) {
  used.programOf(RowProgram::Score);
  checkIdle("rows");
  checks.checkRows(rows);
  guard.take(rows, TSR_INVALID_ARGUMENT);
  scheduler.forget();
  run(rows);
  return readScores(rows);
}

} // namespace tessera
