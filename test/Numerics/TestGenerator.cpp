//===- TestGenerator.cpp - a generator of the runtime, in a test ----------===//

#include "test/Numerics/TestGenerator.h"
#include <gtest/gtest.h>

using namespace tessera::test;

TestGenerator::TestGenerator(const std::string &artifactPath,
                             const std::string &weights,
                             const GeneratorSettings &settings) {
  tsr_artifact *loaded = nullptr;
  EXPECT_EQ(tsr_artifact_load(artifactPath.c_str(), &loaded), TSR_OK)
      << tsr_last_error();
  artifact.reset(loaded);
  tsr_session_options options = {};
  options.size = sizeof options;
  options.seed = SessionSettings().seed;
  options.device = settings.device;
  options.communicator = settings.communicator;
  options.threads = settings.threads;
  options.poison = settings.poison;
  tsr_generator *created = nullptr;
  EXPECT_EQ(tsr_generator_create(loaded, &options,
                                 weights.empty() ? nullptr : weights.c_str(),
                                 &created),
            TSR_OK)
      << tsr_last_error();
  generator.reset(created);
}

std::vector<TensorName> TestGenerator::tensors(const std::string &role) const {
  std::vector<TensorName> found;
  for (const TensorName &tensor : tensorsOf(artifact.get()))
    if (tensor.role == role)
      found.push_back(tensor);
  return found;
}

Values TestGenerator::read(const TensorName &tensor) const {
  Values values(tensor.elements);
  EXPECT_EQ(tsr_generator_read(get(), tensor.role.c_str(), tensor.name.c_str(),
                               values.data(), values.size()),
            TSR_OK)
      << tsr_last_error();
  return values;
}

void TestGenerator::write(const TensorName &tensor, const Values &values) {
  EXPECT_EQ(tsr_generator_write(get(), tensor.role.c_str(), tensor.name.c_str(),
                                values.data(), values.size()),
            TSR_OK)
      << tsr_last_error();
}

TestGenerator::TestGenerator(const Trainer &trainer) {
  tsr_generator *created = nullptr;
  EXPECT_EQ(tsr_generator_create_on(trainer.get(), &created), TSR_OK)
      << tsr_last_error();
  generator.reset(created);
}

int64_t TestGenerator::add(const Tokens &prompt, tsr_request_options options) {
  int64_t id = -1;
  EXPECT_EQ(
      tsr_generator_add(get(), prompt.data(), prompt.size(), &options, &id),
      TSR_OK)
      << tsr_last_error();
  results[id].tokens = prompt;
  results[id].prompt = prompt.size();
  return id;
}

bool TestGenerator::step() {
  int64_t rows = 0;
  tsr_status status = tsr_generator_step(get(), &rows);
  EXPECT_EQ(status, TSR_OK) << tsr_last_error();
  tsr_generated made;
  tsr_alternative others[16];
  size_t count = 0;
  for (int32_t found = 1;
       tsr_generator_take(get(), &made, others, 16, &count, &found) == TSR_OK &&
       found != 0;) {
    Continued &result = results[made.request];
    EXPECT_EQ(result.ended, TSR_GOES_ON) << "goes on after its end";
    result.ended = made.ended;
    if (made.token < 0)
      continue;
    result.tokens.push_back(made.token);
    result.logProbabilities.push_back(made.log_probability);
    result.alternatives.insert(result.alternatives.end(), others,
                               others + count);
  }
  return status == TSR_OK && rows > 0;
}

tsr_request_options tessera::test::requestOf(int64_t maxNewTokens) {
  tsr_request_options options = {};
  options.size = sizeof options;
  options.max_new_tokens = maxNewTokens;
  return options;
}

std::vector<Continued> tessera::test::continueTexts(TestGenerator &generator) {
  std::vector<int64_t> ids;
  for (int32_t k = 0; k < 5; ++k) {
    tsr_request_options options = requestOf(3 + k);
    options.temperature = k % 2 ? 0.8 : 0;
    options.seed = k;
    Tokens prompt(1 + 2 * k, 7 * k);
    prompt.back() = 3;
    ids.push_back(generator.add(prompt, options));
  }
  generator.run();
  std::vector<Continued> results;
  for (int64_t id : ids)
    results.push_back(generator.result(id));
  return results;
}

void tessera::test::expectSame(const std::vector<Continued> &found,
                               const std::vector<Continued> &wanted,
                               double tolerance, const std::string &where) {
  for (size_t k = 0; k < wanted.size(); ++k) {
    SCOPED_TRACE(where + ", request " + std::to_string(k));
    EXPECT_EQ(found[k].tokens, wanted[k].tokens);
    ASSERT_EQ(found[k].logProbabilities.size(),
              wanted[k].logProbabilities.size());
    for (size_t i = 0; i < wanted[k].logProbabilities.size(); ++i)
      EXPECT_NEAR(found[k].logProbabilities[i], wanted[k].logProbabilities[i],
                  tolerance);
    ASSERT_EQ(found[k].alternatives.size(), wanted[k].alternatives.size());
    for (size_t i = 0; i < wanted[k].alternatives.size(); ++i) {
      EXPECT_EQ(found[k].alternatives[i].token,
                wanted[k].alternatives[i].token);
      EXPECT_NEAR(found[k].alternatives[i].log_probability,
                  wanted[k].alternatives[i].log_probability, tolerance);
    }
  }
}
