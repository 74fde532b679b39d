//===- Outcome.cpp - what two training steps leave ------------------------===//

#include "test/Mutation/Outcome.h"
#include "tessera/tessera.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include <cmath>
#include <limits>
#include <memory>
#include <random>

using namespace tessera::test;
namespace json = llvm::json;

namespace {

constexpr int kSteps = 2;
// Large enough that a wrong update of the first step shows in the second.
constexpr double kLearningRate = 1e-2;
// A mutant whose ranks wait for each other ends soon.
constexpr int kTimeoutMs = 5000;
constexpr double kInfinite = std::numeric_limits<double>::infinity();

struct Destroy {
  void operator()(tsr_artifact *object) { tsr_artifact_destroy(object); }
  void operator()(tsr_session *object) { tsr_session_destroy(object); }
};
using Artifact = std::unique_ptr<tsr_artifact, Destroy>;
using Session = std::unique_ptr<tsr_session, Destroy>;

Session openSession(const tsr_artifact *artifact) {
  tsr_session_options options = {};
  options.size = sizeof(options);
  options.seed = 1;
  options.poison = 1;
  options.threads = 1;
  options.timeout_ms = kTimeoutMs;
  tsr_session *session = nullptr;
  if (tsr_session_create(artifact, &options, &session))
    return nullptr;
  Session owned(session);
  tsr_schedule schedule = {};
  schedule.size = sizeof(schedule);
  schedule.lr = schedule.min_lr = kLearningRate;
  if (tsr_session_init(session) || tsr_session_set_schedule(session, &schedule))
    return nullptr;
  return owned;
}

bool names(const tsr_artifact *artifact, llvm::StringRef what) {
  return llvm::StringRef(tsr_artifact_metadata(artifact))
      .contains("\"" + what.str() + "\"");
}

/// Random tokens, every other one at the border of the halves of the
/// vocabulary, where a rank that counts wrong is wrong; of a masked model also
/// labels of about a third of them and token types. Separators are at the
/// border alone, so that no document is empty.
class Data {
public:
  Data(const tsr_artifact *artifact, int step, bool isMasked)
      : generator(step), isMasked(isMasked) {
    size_t positions = tsr_artifact_batch(artifact) *
                       (tsr_artifact_sequence(artifact) + !isMasked);
    int32_t vocabulary = tsr_artifact_vocabulary(artifact);
    const bool hasSeparator = names(artifact, "separator");
    for (size_t k = 0; k < positions; ++k) {
      int32_t border = (vocabulary + 1) / 2 - static_cast<int32_t>(k / 2 % 2);
      int32_t any = static_cast<int32_t>(generator() % vocabulary);
      if (hasSeparator && any == (vocabulary + 1) / 2)
        any = 0;
      tokens.push_back(k % 2 ? border : any);
      labels.push_back(generator() % 3 ? -100
                       : k % 2         ? (vocabulary + 1) / 2
                                       : generator() % vocabulary);
      types.push_back(generator() % 2);
    }
    if (!isMasked && names(artifact, "evaluation_count") &&
        tsr_artifact_target(artifact) == 0)
      ignoreSome(tsr_artifact_columns(artifact));
  }

  tsr_status step(tsr_session *session, tsr_step_result *result) const {
    if (!isMasked)
      return tsr_session_step(session, tokens.data(), tokens.size(), result);
    tsr_batch own = batch();
    return tsr_session_step_batch(session, &own, result);
  }

  /// Evaluates with labels of which some are ignored, in a causal model, too:
  /// an evaluation counts them.
  tsr_status evaluate(tsr_session *session, tsr_evaluation *result) const {
    if (!isMasked && causal.empty())
      return tsr_session_evaluate(session, tokens.data(), tokens.size(), 0,
                                  result);
    tsr_batch own = batch();
    if (!isMasked)
      own.ids = ids.data(), own.labels = causal.data(),
      own.token_types = nullptr;
    return tsr_session_evaluate_batch(session, &own, result);
  }

private:
  /// Ignores about a third of the labels, in rows of `columns` tokens.
  void ignoreSome(int64_t columns) {
    for (size_t k = 0; k < tokens.size(); ++k) {
      if (k % columns != static_cast<size_t>(columns) - 1)
        ids.push_back(tokens[k]);
      if (k % columns != 0)
        causal.push_back(generator() % 3 ? tokens[k] : -100);
    }
  }
  tsr_batch batch() const {
    return {sizeof(tsr_batch), tokens.data(), labels.data(),
            types.data(),      nullptr,       nullptr};
  }

  std::mt19937 generator;
  bool isMasked;
  std::vector<int32_t> tokens, labels, types;
  std::vector<int32_t> ids, causal; ///< Inputs and labels of `tokens`.
};

size_t elementsOf(const json::Object &tensor) {
  size_t elements = 1;
  for (const json::Value &size : *tensor.getArray("shape"))
    elements *= static_cast<size_t>(*size.getAsInteger());
  return elements;
}

bool readState(tsr_session *session, const json::Object &tensor,
               Outcome &outcome) {
  std::string role = tensor.getString("role")->str();
  std::string name = tensor.getString("name")->str();
  if (role != "parameter" && role != "moment1" && role != "moment2")
    return true;
  std::vector<double> &values = outcome[role + " " + name];
  values.resize(elementsOf(tensor));
  return !tsr_session_read(session, role.c_str(), name.c_str(), values.data(),
                           values.size());
}

/// Returns the value on which all ranks agree; infinity if they do not.
std::optional<double> agreed(tsr_session *session, const tsr_artifact *artifact,
                             const char *output, double ofRank0) {
  for (int64_t rank = 0; rank < tsr_artifact_ranks(artifact); ++rank) {
    double own = 0;
    if (tsr_session_read_local(session, rank, "output", output, &own, 1))
      return std::nullopt;
    if (own != ofRank0)
      return kInfinite;
  }
  return ofRank0;
}

} // namespace

/// Runs a step, and then evaluates the model that it leaves on its tokens.
static bool runStep(tsr_session *session, const tsr_artifact *artifact,
                    const Data &data, const std::string &number,
                    Outcome &outcome) {
  auto note = [&](const char *output, double ofRank0) {
    std::optional<double> value = agreed(session, artifact, output, ofRank0);
    if (value)
      outcome[output + (" " + number)] = {*value};
    return value.has_value();
  };
  tsr_step_result step;
  tsr_evaluation evaluation;
  return !data.step(session, &step) && note("loss", step.loss) &&
         note("grad_norm", step.grad_norm) &&
         !data.evaluate(session, &evaluation) &&
         note("evaluation_loss", evaluation.loss) &&
         note("evaluation_correct", static_cast<double>(evaluation.correct)) &&
         (!names(artifact, "evaluation_count") ||
          note("evaluation_count", static_cast<double>(evaluation.labels)));
}

/// Values by which one half of the vocabulary has logits that are equal and
/// larger than the others, and all are negative, below the zeros of padding:
/// vectors of -1, no matrices, rows of 1 and 2 for tokens.
static std::vector<double> equalLogits(llvm::StringRef name, size_t elements,
                                       size_t vocabulary, bool inSecondHalf) {
  bool isTable = llvm::any_of(
      llvm::ArrayRef{"wte", "embed_tokens", "word_embeddings", "lm_head"},
      [&](const char *part) { return name.contains(part); });
  bool isVector = name.ends_with("bias") || name.contains("ln_") ||
                  name.contains("norm") || name.contains("Norm");
  std::vector<double> values(elements, isVector ? -1.0 : 0.0);
  if (!isTable)
    return values;
  auto second = values.begin() + static_cast<ptrdiff_t>((vocabulary + 1) / 2 *
                                                        elements / vocabulary);
  std::fill(values.begin(), second, inSecondHalf ? 2.0 : 1.0);
  std::fill(second, values.end(), inSecondHalf ? 1.0 : 2.0);
  return values;
}

/// Evaluates equal logits, of which the first is the prediction. In the second
/// half that is at the border of slices, where the begin of a rank's count
/// decides; in the first half it is token 0, unless a rank counts too few
/// before a label.
static bool evaluateEqual(tsr_session *session, const tsr_artifact *artifact,
                          const Data &data, bool inSecondHalf,
                          Outcome &outcome) {
  for (const auto &[name, trained] : outcome) {
    llvm::StringRef parameter = name;
    if (!parameter.consume_front("parameter "))
      continue;
    std::vector<double> values =
        equalLogits(parameter, trained.size(),
                    tsr_artifact_vocabulary(artifact), inSecondHalf);
    if (tsr_session_write(session, "parameter", parameter.str().c_str(),
                          values.data(), values.size()))
      return false;
  }
  tsr_evaluation found;
  if (data.evaluate(session, &found))
    return false;
  std::string half = inSecondHalf ? "second half" : "first half";
  outcome["correct of equal logits, " + half] = {
      static_cast<double>(found.correct)};
  outcome["loss of equal logits, " + half] = {found.loss};
  outcome["labels"] = {static_cast<double>(found.labels)};
  return true;
}

/// Parameters that begin as zeros, biases, get values: where a key bias is 0,
/// it does not matter which ranks it comes from.
static bool fillZeros(tsr_session *session, const json::Array &tensors) {
  for (const json::Value &value : tensors) {
    const json::Object &tensor = *value.getAsObject();
    if (*tensor.getString("role") != "parameter")
      continue;
    std::string name = tensor.getString("name")->str();
    std::vector<double> values(elementsOf(tensor));
    if (tsr_session_read(session, "parameter", name.c_str(), values.data(),
                         values.size()))
      return false;
    if (llvm::any_of(values, [](double x) { return x != 0; }))
      continue;
    std::mt19937 generator(1);
    for (double &x : values)
      x = static_cast<double>(generator() % 257) / 1280 - 0.1;
    if (tsr_session_write(session, "parameter", name.c_str(), values.data(),
                          values.size()))
      return false;
  }
  return true;
}

std::optional<Outcome> tessera::test::train(const std::string &path,
                                            bool isMasked) {
  tsr_artifact *loaded = nullptr;
  if (tsr_artifact_load(path.c_str(), &loaded))
    return std::nullopt;
  Artifact artifact(loaded);
  auto metadata = json::parse(tsr_artifact_metadata(loaded));
  if (!metadata) {
    llvm::consumeError(metadata.takeError());
    return std::nullopt;
  }
  const json::Array &tensors = *metadata->getAsObject()->getArray("tensors");
  Session session = openSession(loaded);
  if (!session || !fillZeros(session.get(), tensors))
    return std::nullopt;
  Outcome outcome;
  for (int step = 0; step < kSteps; ++step)
    if (!runStep(session.get(), loaded, Data(loaded, step, isMasked),
                 std::to_string(step), outcome))
      return std::nullopt;
  for (const json::Value &tensor : tensors)
    if (!readState(session.get(), *tensor.getAsObject(), outcome))
      return std::nullopt;
  for (bool inSecondHalf : {false, true})
    if (!evaluateEqual(session.get(), loaded, Data(loaded, kSteps, isMasked),
                       inSecondHalf, outcome))
      return std::nullopt;
  return outcome;
}

/// Below it, values are rounding noise around an exact 0: gradients of the key
/// bias of attention, what AdamW makes of them, and their squares.
static double noiseOf(llvm::StringRef name) {
  return name.starts_with("moment2") ? 1e-22 : 1e-11;
}

double tessera::test::difference(const Outcome &found, const Outcome &wanted) {
  double worst = 0;
  for (const auto &[name, values] : wanted) {
    auto other = found.find(name);
    if (other == found.end() || other->second.size() != values.size())
      return kInfinite;
    double largest = 0, error = 0;
    for (size_t k = 0; k < values.size(); ++k) {
      largest = std::max(
          {largest, std::fabs(values[k]), std::fabs(other->second[k])});
      double here = std::fabs(other->second[k] - values[k]);
      if (!std::isfinite(here))
        return kInfinite;
      error = std::max(error, here);
    }
    if (error > 0 && largest > noiseOf(name))
      worst = std::max(worst, error / largest);
  }
  return worst;
}
