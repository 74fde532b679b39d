//===- Outcome.cpp - what two training steps leave ------------------------===//

#include "Outcome.h"
#include "tessera/tessera.h"
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
constexpr int kTimeoutMs = 20000;

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

std::vector<int32_t> tokensOf(const tsr_artifact *artifact, int step) {
  std::mt19937 generator(step);
  std::vector<int32_t> tokens(tsr_artifact_batch(artifact) *
                              (tsr_artifact_sequence(artifact) + 1));
  for (int32_t &token : tokens)
    token = generator() % tsr_artifact_vocabulary(artifact);
  return tokens;
}

bool readState(tsr_session *session, const json::Object &tensor,
               Outcome &outcome) {
  std::string role = tensor.getString("role")->str();
  std::string name = tensor.getString("name")->str();
  if (role != "parameter" && role != "moment1" && role != "moment2")
    return true;
  size_t elements = 1;
  for (const json::Value &size : *tensor.getArray("shape"))
    elements *= *size.getAsInteger();
  std::vector<double> &values = outcome[role + " " + name];
  values.resize(elements);
  return !tsr_session_read(session, role.c_str(), name.c_str(), values.data(),
                           elements);
}

} // namespace

std::optional<Outcome> tessera::test::train(const std::string &path) {
  tsr_artifact *loaded = nullptr;
  if (tsr_artifact_load(path.c_str(), &loaded))
    return std::nullopt;
  Artifact artifact(loaded);
  Session session = openSession(loaded);
  if (!session)
    return std::nullopt;
  Outcome outcome;
  for (int step = 0; step < kSteps; ++step) {
    std::vector<int32_t> tokens = tokensOf(loaded, step);
    tsr_step_result result;
    if (tsr_session_step(session.get(), tokens.data(), tokens.size(), &result))
      return std::nullopt;
    outcome["loss " + std::to_string(step)] = {result.loss};
    outcome["grad_norm " + std::to_string(step)] = {result.grad_norm};
  }
  auto metadata = json::parse(tsr_artifact_metadata(loaded));
  if (!metadata) {
    llvm::consumeError(metadata.takeError());
    return std::nullopt;
  }
  for (const json::Value &tensor :
       *metadata->getAsObject()->getArray("tensors"))
    if (!readState(session.get(), *tensor.getAsObject(), outcome))
      return std::nullopt;
  return outcome;
}

double tessera::test::difference(const Outcome &found, const Outcome &wanted) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  double worst = 0;
  for (const auto &[name, values] : wanted) {
    auto other = found.find(name);
    if (other == found.end() || other->second.size() != values.size())
      return kInfinite;
    double largest = 0, error = 0;
    for (size_t k = 0; k < values.size(); ++k) {
      largest = std::max(largest, std::fabs(values[k]));
      double here = std::fabs(other->second[k] - values[k]);
      if (std::isnan(here))
        return kInfinite;
      error = std::max(error, here);
    }
    if (error > 0)
      worst = std::max(worst, error / largest);
  }
  return worst;
}
