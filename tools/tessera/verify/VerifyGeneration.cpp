//===- VerifyGeneration.cpp - steps of rows, run and compared -------------===//

#include "tools/tessera/verify/VerifyGeneration.h"
#include "tools/tessera/input/ArtifactFile.h"
#include "tools/tessera/report/PrintError.h"
#include "tools/tessera/verify/RowSchedule.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <algorithm>
#include <cmath>

using namespace tessera;

namespace {

/// NaN if one of them is.
double largerOf(double a, double b) { return std::isnan(a) || b <= a ? a : b; }

struct Destroy {
  void operator()(tsr_generator *object) const {
    tsr_generator_destroy(object);
  }
};
using Generator = std::unique_ptr<tsr_generator, Destroy>;

bool fail() { return !printError(tsr_last_error()); }

Generator generatorOf(const ArtifactFile &artifact, int64_t timeoutMs) {
  tsr_session_options options = {};
  options.size = sizeof options;
  options.poison = 1;
  options.timeout_ms = timeoutMs;
  options.device = nameOf(artifact.device());
  tsr_generator *created = nullptr;
  if (tsr_generator_create(artifact.get(), &options, nullptr, &created) !=
      TSR_OK)
    fail();
  return Generator(created);
}

class Comparison {
public:
  Comparison(const ForwardResult &forward, NumericCheck &check)
      : forward(forward), check(check) {}

  bool open(const std::string &path, const GenerationRun &run);
  bool run();

private:
  bool readSizes();
  bool writeParameters();
  int32_t labelAfter(const PlacedRow &placed);
  tsr_status runScores(const std::vector<tsr_row> &rows);
  tsr_status placeSource(const BegunText &text);
  tsr_status runStep(const RowSchedule &schedule);
  double logitsError(const PlacedRow &placed) const;
  bool mayBe(double rank, const double *logits, int32_t label,
             double within) const;
  double scoreError(const PlacedRow &placed) const;
  void compare(const PlacedRow &placed, const RowSchedule &schedule);
  bool clearParameters();
  std::vector<tsr_row> textsInAllLanes(int64_t first);
  bool runEqual();
  void compareEqual();

  const ForwardResult &forward;
  NumericCheck &check;
  ArtifactFile artifact;
  Generator generator;
  RowSizes sizes;
  double tolerance = 0;
  std::vector<double> logits;  ///< Of a step: [lanes, slots, vocabulary].
  std::vector<int32_t> labels; ///< Of one that scores, by row.
  std::vector<tsr_token_score> scores;
  std::vector<double> ranks; ///< Of labels, by row.
  std::mt19937 random;
};

bool Comparison::readSizes() {
  auto metadata = llvm::json::parse(artifact.metadata());
  if (!metadata) {
    llvm::consumeError(metadata.takeError());
    return !printError("the artifact's metadata is not JSON");
  }
  const llvm::json::Object *model = metadata->getAsObject()->getObject("model");
  auto size = [&](const char *name) {
    return model ? model->getInteger(name).value_or(0) : 0;
  };
  sizes = {size("lanes"), size("slots"), size("places"), size("prefill_chunk")};
  if (sizes.places == forward.length)
    return true;
  return !printError(
      llvm::formatv("the programs for generation have {0} places, the forward "
                    "program has {1} positions",
                    sizes.places, forward.length));
}

bool Comparison::writeParameters() {
  for (const auto &[name, values] : forward.parameters)
    if (tsr_generator_write(generator.get(), "parameter", name.c_str(),
                            values.data(), values.size()) != TSR_OK)
      return fail();
  return true;
}

bool Comparison::open(const std::string &path, const GenerationRun &run) {
  if (!artifact.load(path) || !readSizes())
    return false;
  tolerance = forwardTolerance(run.precision) * growthOf(artifact);
  generator = generatorOf(artifact, run.timeoutMs);
  if (!generator)
    return false;
  logits.resize(sizes.lanes * sizes.slots * forward.vocabulary);
  return writeParameters();
}

const double *largestOf(const double *logits, int64_t count) {
  return std::max_element(logits, logits + count);
}

/// Any token of the vocabulary, often the prediction; or none.
int32_t Comparison::labelAfter(const PlacedRow &placed) {
  const double *own = forward.logitsAt(placed.sequence, placed.position);
  const auto token = static_cast<int32_t>(random() % forward.vocabulary);
  const auto best =
      static_cast<int32_t>(largestOf(own, forward.vocabulary) - own);
  const uint32_t kind = random() % 4;
  return kind == 0 ? -100 : kind == 1 ? best : token;
}

/// Of `labels`, one for each row.
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

/// Of a model with an encoder.
tsr_status Comparison::placeSource(const BegunText &text) {
  if (forward.sources.empty())
    return TSR_OK;
  return tsr_generator_place_source(
      generator.get(), text.text, text.lane, text.slot,
      &forward.sources[text.sequence * forward.sourceLength],
      forward.lengths[text.sequence]);
}

tsr_status Comparison::runStep(const RowSchedule &schedule) {
  for (const BegunText &text : schedule.begun())
    if (tsr_status status = placeSource(text); status != TSR_OK)
      return status;
  const std::vector<tsr_row> &rows = schedule.rows();
  if (!schedule.scores())
    return tsr_generator_run_rows(generator.get(), rows.data(), rows.size(),
                                  logits.data(), logits.size());
  labels.assign(rows.size(), -1);
  for (const PlacedRow &placed : schedule.compared())
    labels[placed.number] = labelAfter(placed);
  return runScores(rows);
}

/// Of the largest logit of the position.
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

/// Whether so many logits may come before the label's where logits may differ
/// by so much.
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

/// Half of that of the log-probability, which is a difference of logits and of
/// a mean of them; infinite where another number of logits is said to come
/// before the label's than may.
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
  const double error =
      schedule.scores() ? scoreError(placed) : logitsError(placed);
  ++check.values;
  check.worst = largerOf(check.worst, error);
  if (!(error <= tolerance) && check.difference.empty())
    check.difference = llvm::formatv(
        "{0} after position {1} of sequence {2}, of @{3} in step {4}, differ "
        "from those of the forward program by {5:e1} of the largest{6}, "
        "{7:e1} is allowed",
        schedule.scores() ? "scores" : "the logits", placed.position,
        placed.sequence, schedule.program(), check.steps, error,
        schedule.scores() ? " logit" : "", tolerance);
}

//===----------------------------------------------------------------------===//
// Logits that are equal
//===----------------------------------------------------------------------===//

/// Then all logits are 0.
bool Comparison::clearParameters() {
  for (const auto &[name, values] : forward.parameters) {
    const std::vector<double> zeros(values.size(), 0);
    if (tsr_generator_write(generator.get(), "parameter", name.c_str(),
                            zeros.data(), zeros.size()) != TSR_OK)
      return fail();
  }
  return true;
}

/// As many rows as a step and a slot have; `labels` are any.
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

/// Of equal logits those of smaller numbers come first, on whichever rank they
/// are.
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
bool Comparison::runEqual() {
  constexpr int64_t steps = 4, firstText = int64_t(1) << 32;
  if (!clearParameters())
    return false;
  for (int64_t k = 0; k < steps; ++k, ++check.steps) {
    const std::vector<tsr_row> rows =
        textsInAllLanes(firstText + k * sizes.lanes);
    for (const tsr_row &row : rows)
      if (row.position == 0 &&
          placeSource({row.text, row.lane, row.slot, 0}) != TSR_OK)
        return fail();
    if (runScores(rows) != TSR_OK)
      return fail();
    compareEqual();
  }
  return true;
}

bool Comparison::run() {
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
  return !check.difference.empty() || runEqual();
}

} // namespace

bool tessera::storeParameters(const std::string &path,
                              NamedValues &parameters) {
  ArtifactFile artifact;
  if (!artifact.load(path))
    return false;
  Generator generator = generatorOf(artifact, 0);
  for (auto &[name, values] : parameters)
    if (!generator ||
        tsr_generator_write(generator.get(), "parameter", name.c_str(),
                            values.data(), values.size()) != TSR_OK ||
        tsr_generator_read(generator.get(), "parameter", name.c_str(),
                           values.data(), values.size()) != TSR_OK)
      return generator && fail();
  return !!generator;
}

bool tessera::compareGeneration(const std::string &path,
                                const ForwardResult &forward,
                                const GenerationRun &run, NumericCheck &check) {
  Comparison comparison(forward, check);
  return comparison.open(path, run) && comparison.run();
}
