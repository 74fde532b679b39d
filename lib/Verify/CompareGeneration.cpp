//===- CompareGeneration.cpp - steps of rows, run and compared ------------===//

#include "lib/Verify/CompareGeneration.h"
#include "lib/Verify/Difference.h"
#include "lib/Verify/ProgramRun.h"
#include "lib/Verify/RowSchedule.h"
#include "tessera/Artifact/ArtifactFile.h"
#include "tessera/Artifact/RuntimeError.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

using namespace tessera;

namespace {

struct Destroy {
  void operator()(tsr_generator *object) const {
    tsr_generator_destroy(object);
  }
};
using Generator = std::unique_ptr<tsr_generator, Destroy>;

llvm::Expected<Generator> generatorOf(const ArtifactFile &artifact,
                                      int64_t timeoutMs) {
  tsr_session_options options = {};
  options.size = sizeof options;
  options.poison = 1;
  options.timeout_ms = timeoutMs;
  options.device = nameOf(artifact.device());
  tsr_generator *created = nullptr;
  if (tsr_generator_create(artifact.get(), &options, nullptr, &created) !=
      TSR_OK)
    return runtimeError();
  return Generator(created);
}

/// The choice of the token after a row, if steps leave candidates.
struct PlacedSampling {
  double temperature = 1, penalty = 1;
  int64_t seed = 0;
  bool isDrawn = false;
  std::vector<int32_t> text;
};

class Comparison {
public:
  Comparison(const ForwardResult &forward, NumericCheck &check)
      : forward(forward), check(check) {}

  llvm::Error open(const std::string &path, const GenerationRun &run);
  llvm::Error run();

private:
  llvm::Error readSizes();
  llvm::Error writeParameters();
  int32_t labelAfter(const PlacedRow &placed);
  tsr_status runScores(const std::vector<tsr_row> &rows);
  tsr_status placeSource(const BegunText &text);
  tsr_status runStep(const RowSchedule &schedule);
  tsr_status placeSampling(const PlacedRow &placed);
  tsr_status readCandidates(const char *program);
  std::vector<double> penalized(const PlacedRow &placed) const;
  double drawnError(const PlacedRow &placed,
                    const std::vector<double> &wanted) const;
  double logitsError(const PlacedRow &placed) const;
  double candidatesError(const PlacedRow &placed) const;
  bool mayBe(double rank, const double *logits, int32_t label,
             double within) const;
  double scoreError(const PlacedRow &placed) const;
  void compare(const PlacedRow &placed, const RowSchedule &schedule);
  llvm::Error clearParameters();
  std::vector<tsr_row> textsInAllLanes(int64_t first);
  llvm::Error runEqual();
  void compareEqual();

  const ForwardResult &forward;
  NumericCheck &check;
  ArtifactFile artifact;
  Generator generator;
  RowSizes sizes;
  double tolerance = 0;
  int64_t count = 0; ///< Number of candidates; 0: steps leave logits.
  /// The logits of a step: [lanes, slots, vocabulary].
  std::vector<double> logits;
  /// For a step that leaves candidates: [lanes, slots, count, 2]; for each slot
  /// the one that is drawn, [.., 3], and what exponentials of logits sum to.
  std::vector<double> candidates, drawn, totals;
  /// Those of slots that were compared last.
  std::vector<PlacedSampling> samplings;
  /// Those of a step that scores, by row.
  std::vector<int32_t> labels;
  std::vector<tsr_token_score> scores;
  std::vector<double> ranks; ///< Ranks of labels, by row.
  std::mt19937 random;
};

llvm::Error Comparison::readSizes() {
  llvm::Expected<program::Program> read = readMetadata(artifact);
  if (!read)
    return read.takeError();
  const program::Model &model = read->model;
  sizes = {model.lanes, model.slots, model.places, model.prefillChunk};
  count = model.candidates;
  if (sizes.places == forward.length)
    return llvm::Error::success();
  return llvm::createStringError(
      llvm::formatv("the programs for generation have {0} places, the forward "
                    "program has {1} positions",
                    sizes.places, forward.length));
}

llvm::Error Comparison::writeParameters() {
  for (const auto &[name, values] : forward.parameters)
    if (tsr_generator_write(generator.get(), "parameter", name.c_str(),
                            values.data(), values.size()) != TSR_OK)
      return runtimeError();
  return llvm::Error::success();
}

llvm::Error Comparison::open(const std::string &path,
                             const GenerationRun &run) {
  if (llvm::Error error = artifact.load(path))
    return error;
  if (llvm::Error error = readSizes())
    return error;
  tolerance = forwardTolerance(run.precision) * growthOf(artifact);
  if (llvm::Error error =
          generatorOf(artifact, run.timeoutMs).moveInto(generator))
    return error;
  const int64_t slots = sizes.lanes * sizes.slots;
  logits.resize(count ? 0 : slots * forward.vocabulary);
  candidates.resize(slots * count * 2);
  drawn.resize(count ? slots * 3 : 0);
  totals.resize(count ? slots : 0);
  samplings.resize(slots);
  return writeParameters();
}

const double *largestOf(const double *logits, int64_t count) {
  return std::max_element(logits, logits + count);
}

/// Returns any token of the vocabulary, often the prediction; or none.
int32_t Comparison::labelAfter(const PlacedRow &placed) {
  const double *own = forward.logitsAt(placed.sequence, placed.position);
  const auto token = static_cast<int32_t>(random() % forward.vocabulary);
  const auto best =
      static_cast<int32_t>(largestOf(own, forward.vocabulary) - own);
  const uint32_t kind = random() % 4;
  return kind == 0 ? -100 : kind == 1 ? best : token;
}

/// Runs a step that scores `labels`, one for each row.
tsr_status Comparison::runScores(const std::vector<tsr_row> &rows) {
  const int64_t stride = sizes.slots + sizes.chunk;
  std::vector<double> ofLanes(sizes.lanes * stride);
  scores.resize(rows.size());
  tsr_status status = tsr_generator_score_rows(
      generator.get(), rows.data(), labels.data(), rows.size(), scores.data());
  if (status == TSR_OK)
    status = tsr_generator_read(generator.get(), "output", "score_label_ranks",
                                ofLanes.data(), ofLanes.size());
  ranks.clear();
  std::vector<int64_t> next(sizes.lanes, 0);
  for (const tsr_row &row : rows)
    ranks.push_back(ofLanes[row.lane * stride + next[row.lane]++]);
  return status;
}

/// Places the source of a model with an encoder.
tsr_status Comparison::placeSource(const BegunText &text) {
  if (forward.sources.empty())
    return TSR_OK;
  return tsr_generator_place_source(
      generator.get(), text.text, text.lane, text.slot,
      &forward.sources[text.sequence * forward.sourceLength],
      forward.lengths[text.sequence]);
}

/// Chooses any of the ways, after the text up to the row.
tsr_status Comparison::placeSampling(const PlacedRow &placed) {
  if (!count)
    return TSR_OK;
  PlacedSampling &own = samplings[placed.lane * sizes.slots + placed.slot];
  const double temperatures[] = {0, 0.7, 1, 1.6}, penalties[] = {1, 1.5, 0.7};
  tsr_request_options options = {};
  options.size = sizeof options;
  options.temperature = temperatures[random() % std::size(temperatures)];
  options.repetition_penalty = penalties[random() % std::size(penalties)];
  options.seed = static_cast<int64_t>(random()) << 16;
  const int32_t *text = &forward.tokens[placed.sequence * forward.length];
  own = {options.temperature > 0 ? options.temperature : 1,
         options.repetition_penalty, options.seed, options.temperature > 0,
         std::vector<int32_t>(text, text + placed.position + 1)};
  return tsr_generator_place_sampling(generator.get(), placed.lane, placed.slot,
                                      &options, own.text.data(),
                                      own.text.size());
}

tsr_status Comparison::readCandidates(const char *program) {
  for (auto [name, values] :
       {std::pair("_candidates", &candidates), std::pair("_drawn", &drawn),
        std::pair("_totals", &totals)})
    if (tsr_status status = tsr_generator_read(
            generator.get(), "output", (std::string(program) + name).c_str(),
            values->data(), values->size());
        status != TSR_OK)
      return status;
  return TSR_OK;
}

tsr_status Comparison::runStep(const RowSchedule &schedule) {
  for (const BegunText &text : schedule.begun())
    if (tsr_status status = placeSource(text); status != TSR_OK)
      return status;
  const std::vector<tsr_row> &rows = schedule.rows();
  if (!schedule.scores()) {
    for (const PlacedRow &placed : schedule.compared())
      if (tsr_status status = placeSampling(placed); status != TSR_OK)
        return status;
    tsr_status status =
        tsr_generator_run_rows(generator.get(), rows.data(), rows.size(),
                               logits.data(), logits.size());
    return status == TSR_OK && count ? readCandidates(schedule.program())
                                     : status;
  }
  labels.assign(rows.size(), -1);
  for (const PlacedRow &placed : schedule.compared())
    labels[placed.number] = labelAfter(placed);
  return runScores(rows);
}

/// Returns the error relative to the largest logit of the position.
double Comparison::logitsError(const PlacedRow &placed) const {
  const double *wanted = forward.logitsAt(placed.sequence, placed.position);
  const double *found =
      &logits[(placed.lane * sizes.slots + placed.slot) * forward.vocabulary];
  double largest = 0, error = 0;
  for (int64_t k = 0; k < forward.vocabulary; ++k) {
    largest = std::max(largest, std::fabs(wanted[k]));
    error = largerOf(error, std::fabs(found[k] - wanted[k]));
  }
  return error / largest;
}

/// Returns the position's logits with the penalty of the slot's text.
std::vector<double> Comparison::penalized(const PlacedRow &placed) const {
  const PlacedSampling &own =
      samplings[placed.lane * sizes.slots + placed.slot];
  const double *given = forward.logitsAt(placed.sequence, placed.position);
  std::vector<double> made(given, given + forward.vocabulary);
  for (int32_t token : own.text)
    made[token] = given[token] > 0 ? given[token] / own.penalty
                                   : given[token] * own.penalty;
  return made;
}

/// Returns how far the token that was drawn is below the one with the largest
/// score, and its score and logit are from its own.
double Comparison::drawnError(const PlacedRow &placed,
                              const std::vector<double> &wanted) const {
  const int64_t row = placed.lane * sizes.slots + placed.slot;
  const PlacedSampling &own = samplings[row];
  const auto position = static_cast<int64_t>(own.text.size());
  auto scoreOf = [&](int64_t token) {
    double noise = own.isDrawn ? tsr_sampling_noise(own.seed, position,
                                                    static_cast<int32_t>(token))
                               : 0;
    return wanted[token] / own.temperature + noise;
  };
  const auto token = static_cast<int64_t>(drawn[3 * row + 1]);
  if (token < 0 || token >= forward.vocabulary)
    return INFINITY;
  double best = -INFINITY;
  for (int64_t k = 0; k < forward.vocabulary; ++k)
    best = std::max(best, scoreOf(k));
  const double score = scoreOf(token);
  const double ofScore =
      largerOf((best - score) / 2, std::fabs(drawn[3 * row] - score));
  return largerOf(ofScore * own.temperature,
                  std::fabs(drawn[3 * row + 2] - wanted[token]));
}

/// Returns the error relative to the largest logit of the position: how much
/// the candidates differ from the largest logits, in order, and from those of
/// their own tokens, the drawn one from what is to be drawn, and a half of how
/// much the logarithm of the sum does, which the largest moves, too. Infinite
/// where a token is there twice.
double Comparison::candidatesError(const PlacedRow &placed) const {
  const std::vector<double> wanted = penalized(placed);
  const int64_t row = placed.lane * sizes.slots + placed.slot;
  const double temperature = samplings[row].temperature;
  std::vector<double> sorted = wanted;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  std::vector<bool> isThere(forward.vocabulary, false);
  double largest =
      std::max(std::fabs(sorted.front()), std::fabs(sorted.back()));
  double error = drawnError(placed, wanted), total = 0;
  for (int64_t k = 0; k < count; ++k) {
    const double *pair = &candidates[(row * count + k) * 2];
    const auto token = static_cast<int64_t>(pair[1]);
    if (token < 0 || token >= forward.vocabulary || isThere[token])
      return INFINITY;
    isThere[token] = true;
    error = largerOf(error, std::fabs(pair[0] - sorted[k]));
    error = largerOf(error, std::fabs(pair[0] - wanted[token]));
  }
  for (double logit : sorted)
    total += std::exp((logit - sorted.front()) / temperature);
  const double ofTotal =
      std::fabs(std::log(totals[row]) - std::log(total)) * temperature;
  return largerOf(error / largest, ofTotal / (2 * std::max(largest, 1.0)));
}

/// Returns whether so many logits may come before the label's where logits may
/// differ by so much.
bool Comparison::mayBe(double rank, const double *logits, int32_t label,
                       double within) const {
  double least = 0, most = 0;
  for (int64_t k = 0; k < forward.vocabulary; ++k) {
    if (k == label)
      continue;
    const double ahead = logits[k] - logits[label];
    least += ahead > within;
    most += ahead >= -within;
  }
  return least <= rank && rank <= most;
}

/// Returns half of the error of the log-probability, which is a difference of
/// logits and of a mean of them; infinite where another number of logits is
/// said to come before the label's than may.
double Comparison::scoreError(const PlacedRow &placed) const {
  const double *wanted = forward.logitsAt(placed.sequence, placed.position);
  const int64_t count = forward.vocabulary;
  const int32_t label = labels[placed.number];
  const tsr_token_score &found = scores[placed.number];
  const double *best = largestOf(wanted, count);
  double largest = 1, total = 0;
  for (int64_t k = 0; k < count; ++k) {
    largest = std::max(largest, std::fabs(wanted[k]));
    total += std::exp(wanted[k] - *best);
  }
  const double rank = ranks[placed.number];
  if ((found.is_largest != 0) != (rank == 0) ||
      !mayBe(rank, wanted, label, 2 * tolerance * largest))
    return INFINITY;
  const double log = wanted[label] - *best - std::log(total);
  return std::fabs(found.log_probability - log) / (2 * largest);
}

void Comparison::compare(const PlacedRow &placed, const RowSchedule &schedule) {
  if (schedule.scores() && labels[placed.number] < 0)
    return;
  const double error = schedule.scores() ? scoreError(placed)
                       : count           ? candidatesError(placed)
                                         : logitsError(placed);
  ++check.values;
  check.worst = largerOf(check.worst, error);
  if (!(error <= tolerance) && check.difference.empty())
    check.difference = llvm::formatv(
        "{0} after position {1} of sequence {2}, of @{3} in step {4}, differ "
        "from those of the forward program by {5:e1} of the largest{6}, "
        "{7:e1} is allowed",
        schedule.scores() ? "scores"
        : count           ? "the candidates"
                          : "the logits",
        placed.position, placed.sequence, schedule.program(), check.steps,
        error, schedule.scores() ? " logit" : "", tolerance);
}

//===----------------------------------------------------------------------===//
// Logits that are equal
//===----------------------------------------------------------------------===//

/// Then all logits are 0.
llvm::Error Comparison::clearParameters() {
  for (const auto &[name, values] : forward.parameters) {
    const std::vector<double> zeros(values.size(), 0);
    if (tsr_generator_write(generator.get(), "parameter", name.c_str(),
                            zeros.data(), zeros.size()) != TSR_OK)
      return runtimeError();
  }
  return llvm::Error::success();
}

/// Returns as many rows as a step and a slot have; `labels` are any.
std::vector<tsr_row> Comparison::textsInAllLanes(int64_t first) {
  const int64_t length = std::min(sizes.places, sizes.slots + sizes.chunk);
  const auto token = [&] {
    return static_cast<int32_t>(random() % forward.vocabulary);
  };
  std::vector<tsr_row> rows;
  labels.clear();
  for (int64_t lane = 0; lane < sizes.lanes; ++lane)
    for (int64_t position = 0; position < length; ++position) {
      rows.push_back({first + lane, lane, 0, position, token(), 0});
      labels.push_back(token());
    }
  return rows;
}

/// Compares equal logits, of which those of smaller numbers come first, on
/// whichever rank they are.
void Comparison::compareEqual() {
  for (size_t k = 0; k < labels.size(); ++k) {
    const double error =
        ranks[k] != labels[k] || (scores[k].is_largest != 0) != (labels[k] == 0)
            ? INFINITY
            : std::fabs(scores[k].log_probability +
                        std::log(static_cast<double>(forward.vocabulary)));
    ++check.values;
    check.worst = largerOf(check.worst, error);
    if (!(error <= tolerance) && check.difference.empty())
      check.difference = llvm::formatv(
          "where all logits are 0, {0} come before that of label {1}, whose "
          "log-probability is {2}",
          ranks[k], labels[k], scores[k].log_probability);
  }
}

/// Random logits are never equal, so nothing else says which comes first.
llvm::Error Comparison::runEqual() {
  constexpr int64_t steps = 4, firstText = int64_t(1) << 32;
  if (llvm::Error error = clearParameters())
    return error;
  for (int64_t k = 0; k < steps; ++k, ++check.steps) {
    const std::vector<tsr_row> rows =
        textsInAllLanes(firstText + k * sizes.lanes);
    for (const tsr_row &row : rows)
      if (row.position == 0 &&
          placeSource({row.text, row.lane, row.slot, 0}) != TSR_OK)
        return runtimeError();
    if (runScores(rows) != TSR_OK)
      return runtimeError();
    compareEqual();
  }
  return llvm::Error::success();
}

llvm::Error Comparison::run() {
  RowSchedule schedule(sizes, forward.sequences, forward.tokens);
  for (; check.difference.empty() && schedule.next(); ++check.steps) {
    if (runStep(schedule) != TSR_OK) {
      check.worst = INFINITY;
      check.difference =
          llvm::formatv("step {0} of @{1} fails: {2}", check.steps,
                        schedule.program(), tsr_last_error());
      break;
    }
    for (const PlacedRow &placed : schedule.compared())
      compare(placed, schedule);
  }
  return check.difference.empty() ? runEqual() : llvm::Error::success();
}

} // namespace

llvm::Error tessera::storeParameters(const std::string &path,
                                     NamedValues &parameters) {
  ArtifactFile artifact;
  if (llvm::Error error = artifact.load(path))
    return error;
  llvm::Expected<Generator> generator = generatorOf(artifact, 0);
  if (!generator)
    return generator.takeError();
  for (auto &[name, values] : parameters)
    if (tsr_generator_write(generator->get(), "parameter", name.c_str(),
                            values.data(), values.size()) != TSR_OK ||
        tsr_generator_read(generator->get(), "parameter", name.c_str(),
                           values.data(), values.size()) != TSR_OK)
      return runtimeError();
  return llvm::Error::success();
}

llvm::Expected<NumericCheck>
tessera::compareGeneration(const std::string &path,
                           const ForwardResult &forward,
                           const GenerationRun &run) {
  NumericCheck check;
  check.difference = forward.refusal();
  if (!check.difference.empty())
    return check;
  Comparison comparison(forward, check);
  if (llvm::Error error = comparison.open(path, run))
    return error;
  if (llvm::Error error = comparison.run())
    return error;
  return check;
}
