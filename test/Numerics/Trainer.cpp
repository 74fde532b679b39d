//===- Trainer.cpp - a session of the runtime, in a test ------------------===//

#include "test/Numerics/Trainer.h"
#include "llvm/Support/JSON.h"
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace tessera::test;
namespace json = llvm::json;

bool Trainer::ok(tsr_status status) const {
  EXPECT_EQ(status, TSR_OK) << tsr_last_error();
  return status == TSR_OK;
}

Trainer::Trainer(const std::string &artifactPath,
                 const SessionSettings &settings) {
  tsr_artifact *loaded = nullptr;
  if (!ok(tsr_artifact_load(artifactPath.c_str(), &loaded)))
    return;
  artifact.reset(loaded);
  tsr_session_options options = {};
  options.size = sizeof(options);
  options.seed = settings.seed;
  options.poison = settings.poison;
  options.threads = settings.threads;
  options.device = settings.device;
  options.communicator = settings.communicator;
  tsr_session *created = nullptr;
  if (!ok(tsr_session_create(loaded, &options, &created)))
    return;
  session.reset(created);
  ok(tsr_session_init(created));
  all = tensorsOf(artifact.get());
}

std::vector<TensorName> tessera::test::tensorsOf(const tsr_artifact *artifact) {
  auto metadata = json::parse(tsr_artifact_metadata(artifact));
  std::vector<TensorName> all;
  EXPECT_TRUE(bool(metadata));
  for (const json::Value &value :
       *metadata->getAsObject()->getArray("tensors")) {
    const json::Object &object = *value.getAsObject();
    TensorName tensor = {object.getString("role")->str(),
                         object.getString("name")->str()};
    for (const json::Value &size : *object.getArray("shape"))
      tensor.elements *= *size.getAsInteger();
    all.push_back(tensor);
  }
  return all;
}

json::Array Trainer::ops() const {
  auto metadata = json::parse(tsr_artifact_metadata(artifact.get()));
  return *llvm::cantFail(std::move(metadata)).getAsObject()->getArray("ops");
}

std::vector<TensorName> Trainer::tensors(const std::string &role) const {
  std::vector<TensorName> found;
  for (const TensorName &tensor : all)
    if (tensor.role == role)
      found.push_back(tensor);
  return found;
}

void Trainer::setSchedule(double lr, double minLr, int64_t steps) {
  tsr_schedule schedule = {};
  schedule.size = sizeof schedule;
  schedule.lr = lr;
  schedule.min_lr = minLr;
  schedule.total_steps = steps;
  ok(tsr_session_set_schedule(session.get(), &schedule));
}

void Trainer::loadWeights(const std::string &path) {
  ok(tsr_session_load_weights(session.get(), path.c_str()));
}

void Trainer::save(const std::string &directory) {
  ok(tsr_session_save(session.get(), directory.c_str()));
}

void Trainer::load(const std::string &directory) {
  ok(tsr_session_load(session.get(), directory.c_str()));
}

tsr_step_result Trainer::step(const Tokens &tokens) {
  double none = std::numeric_limits<double>::quiet_NaN();
  tsr_step_result result = {none, none, none, -1};
  ok(tsr_session_step(session.get(), tokens.data(), tokens.size(), &result));
  return result;
}

tsr_step_result Trainer::step(const Tokens &ids, const Tokens &labels,
                              const Tokens &tokenTypes,
                              const Tokens &segments) {
  double none = std::numeric_limits<double>::quiet_NaN();
  tsr_step_result result = {none, none, none, -1};
  auto given = [](const Tokens &values) {
    return values.empty() ? nullptr : values.data();
  };
  tsr_batch batch = {sizeof(tsr_batch), ids.data(),      labels.data(),
                     given(tokenTypes), given(segments), nullptr};
  ok(tsr_session_step_batch(session.get(), &batch, &result));
  return result;
}

tsr_evaluation Trainer::evaluate(const Tokens &tokens, int64_t number) {
  tsr_evaluation result = {std::numeric_limits<double>::quiet_NaN(), -1, -1};
  ok(tsr_session_evaluate(session.get(), tokens.data(), tokens.size(), number,
                          &result));
  return result;
}

tsr_evaluation Trainer::evaluate(const Tokens &ids, const Tokens &labels) {
  tsr_evaluation result = {std::numeric_limits<double>::quiet_NaN(), -1, -1};
  tsr_batch batch = {sizeof(tsr_batch), ids.data(), labels.data(),
                     nullptr,           nullptr,    nullptr};
  ok(tsr_session_evaluate_batch(session.get(), &batch, &result));
  return result;
}

Values Trainer::read(const TensorName &tensor) {
  Values values(tensor.elements, std::numeric_limits<double>::quiet_NaN());
  ok(tsr_session_read(session.get(), tensor.role.c_str(), tensor.name.c_str(),
                      values.data(), values.size()));
  return values;
}

void Trainer::write(const TensorName &tensor, const Values &values) {
  ok(tsr_session_write(session.get(), tensor.role.c_str(), tensor.name.c_str(),
                       values.data(), values.size()));
}

Tokens Trainer::randomTokens(uint32_t seed) const {
  std::mt19937 generator(seed);
  const tsr_artifact *a = artifact.get();
  Tokens tokens(tsr_artifact_batch(a) * tsr_artifact_columns(a));
  for (int32_t &token : tokens)
    token = generator() % tsr_artifact_vocabulary(a);
  return tokens;
}

/// Returns sequences each of which counts upwards by 1 or 2 from a random
/// start.
Tokens Trainer::learnableTokens(uint32_t seed) const {
  std::mt19937 generator(seed);
  Tokens tokens;
  const tsr_artifact *a = artifact.get();
  for (int64_t row = 0; row < tsr_artifact_batch(a); ++row) {
    uint32_t start = generator(), stride = 1 + row % 2;
    for (int64_t column = 0; column < tsr_artifact_columns(a); ++column)
      tokens.push_back((start % 1000 + column * stride) %
                       tsr_artifact_vocabulary(a));
  }
  return tokens;
}

double tessera::test::relativeError(const Values &found, const Values &wanted,
                                    double floor) {
  if (found.size() != wanted.size())
    return std::numeric_limits<double>::infinity();
  double largest = floor, error = 0;
  for (size_t k = 0; k < wanted.size(); ++k) {
    largest = std::max(largest, std::fabs(wanted[k]));
    double difference = std::fabs(found[k] - wanted[k]);
    if (!std::isnan(error) && !(difference <= error))
      error = difference; // NaN stays
  }
  return error / largest;
}
