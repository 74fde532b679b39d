//===- GenerationTest.cpp - prefill and decode are the model --------------===//
// Generated tokens are those that the training step's forward makes of the same
// tokens: in any chunking, batch and order of arrival, on every mesh, with NaN
// where nothing was appended.
//===----------------------------------------------------------------------===//

#include "test/Models.h"
#include "test/Numerics/Model.h"
#include "test/Numerics/Reference.h"
#include "test/Numerics/TestGenerator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <set>

using namespace tessera::test;
namespace json = llvm::json;

namespace {

constexpr int64_t kLength = 24, kVocabulary = 61, kSequences = 6;

/// Returns the config of a model without dropout, with room for the texts,
/// weights that make logits differ, and a vocabulary that 2 does not divide.
std::string configOf(const TestModel &model) {
  json::Object values{{"n_positions", kLength},
                      {"max_position_embeddings", 32},
                      {"vocab_size", kVocabulary},
                      {"initializer_range", 0.3}};
  std::string config =
      scratchFile("config.json", configWith(model.path(), values));
  return scratchFile("config.json", configWithoutDropout(config));
}

/// Returns the config of tests that ask nothing of the model.
std::string smallConfig() {
  return scratchFile("config.json", R"({"model_type": "gpt2", "n_layer": 2,
      "n_head": 4, "n_embd": 32, "n_positions": 24, "vocab_size": 61,
      "initializer_range": 0.3, "resid_pdrop": 0, "embd_pdrop": 0,
      "attn_pdrop": 0})");
}

std::string generatorOf(const std::string &config, const std::string &mesh,
                        const char *precision = "f64", int64_t chunk = 7,
                        const char *weights = "precision") {
  Build build;
  build.mesh = mesh;
  build.flags = {{"weights", weights}};
  build.generates = true;
  build.precision = precision;
  build.sequence = kLength;
  build.maxBatch = 4;
  build.prefillChunk = chunk;
  return compileModel(config, build);
}

/// The whole sequences at once, by the training step.
class Forward {
public:
  Forward(const std::string &config, const char *precision) {
    Build build;
    build.keepValues = true;
    build.precision = precision;
    build.sequence = kLength;
    build.batch = kSequences;
    trainer = std::make_unique<Trainer>(compileModel(config, build));
  }

  /// From now on the parameters are those that a generator holds.
  void takeParameters(const TestGenerator &generator) {
    for (const TensorName &tensor : generator.tensors("parameter"))
      trainer->write(tensor, generator.read(tensor));
  }

  /// Returns logits [sequences, length, vocabulary].
  Values logits(const std::vector<Tokens> &sequences) {
    Tokens ids(kSequences * kLength, 0), labels(ids);
    for (auto [k, tokens] : llvm::enumerate(sequences))
      llvm::copy(tokens, ids.begin() + k * kLength);
    trainer->step(ids, labels, {});
    for (const TensorName &tensor : trainer->tensors("value"))
      if (llvm::StringRef(tensor.name).ends_with("einsum of head"))
        return trainer->read(tensor);
    ADD_FAILURE() << "the step keeps no logits";
    return {};
  }

private:
  std::unique_ptr<Trainer> trainer;
};

tsr_request_options drawing(int64_t tokens, int64_t seed) {
  tsr_request_options options = requestOf(tokens);
  options.temperature = 0.8;
  options.seed = seed;
  return options;
}

/// Six requests for four slots, some after some steps; every other one draws.
std::vector<Continued> generate(const std::string &artifact, uint32_t seed) {
  TestGenerator generator(artifact);
  std::mt19937 random(seed);
  std::vector<int64_t> ids;
  for (int64_t k = 0; k < kSequences; ++k) {
    std::mt19937 prompts(static_cast<uint32_t>(k + 1));
    Tokens prompt(1 + prompts() % 14);
    for (int32_t &token : prompt)
      token = static_cast<int32_t>(prompts() % kVocabulary);
    int64_t length = 4 + k;
    ids.push_back(
        generator.add(prompt, k % 2 ? drawing(length, k) : requestOf(length)));
    for (uint32_t step = random() % 4; step-- > 0;)
      generator.step();
  }
  generator.run();
  EXPECT_EQ(tsr_generator_active(generator.get()), 0);
  std::vector<Continued> results;
  for (int64_t id : ids)
    results.push_back(generator.result(id));
  return results;
}

/// Log-probabilities of new tokens, and which are chosen, by whole logits.
void expectModel(const std::vector<Continued> &results, const Values &logits,
                 double tolerance, const std::string &where) {
  ASSERT_EQ(logits.size(), size_t(kSequences * kLength * kVocabulary));
  for (auto [k, result] : llvm::enumerate(results)) {
    const double sharpness = k % 2 ? 1 / 0.8 : 1;
    EXPECT_EQ(result.ended, TSR_ENDED_LENGTH) << where;
    ASSERT_EQ(result.logProbabilities.size(), 4 + k) << where;
    for (size_t at = result.prompt; at < result.tokens.size(); ++at) {
      const double *row = &logits[(k * kLength + at - 1) * size_t(kVocabulary)];
      const double *best = std::max_element(row, row + kVocabulary);
      double total = 0;
      for (int64_t v = 0; v < kVocabulary; ++v)
        total += std::exp((row[v] - *best) * sharpness);
      int32_t token = result.tokens[at];
      if (k % 2 == 0) {
        EXPECT_EQ(token, best - row) << where << ", request " << k;
      }
      EXPECT_NEAR(result.logProbabilities[at - result.prompt],
                  (row[token] - *best) * sharpness - std::log(total), tolerance)
          << where << ", request " << k << ", position " << at;
    }
  }
}

class GenerationTest : public ::testing::TestWithParam<TestModel> {
protected:
  static std::vector<Tokens>
  sequencesOf(const std::vector<Continued> &results) {
    std::vector<Tokens> sequences;
    for (const Continued &result : results)
      sequences.push_back(result.tokens);
    return sequences;
  }
  std::string artifactOf(const std::string &mesh, const char *precision = "f64",
                         int64_t chunk = 7,
                         const char *weights = "precision") const {
    return generatorOf(config, mesh, precision, chunk, weights);
  }

  const TestModel &model = GetParam();
  std::string config = configOf(model);
};

TEST_P(GenerationTest, IsTheForwardProgram) {
  for (const char *precision : {"f64", "f32"}) {
    std::vector<Continued> results = generate(artifactOf("", precision), 1);
    Forward forward(config, precision);
    expectModel(results, forward.logits(sequencesOf(results)),
                llvm::StringRef(precision) == "f64" ? 1e-11 : 1e-4, precision);
  }
}

/// Other arrivals, chunks and threads meet in other steps.
TEST_P(GenerationTest, DoesNotDependOnTheSchedule) {
  std::vector<Continued> wanted = generate(artifactOf(""), 1);
  expectSame(generate(artifactOf(""), 5), wanted, 1e-11, "arrivals");
  expectSame(generate(artifactOf("", "f64", 1), 9), wanted, 1e-11,
             "chunks of 1");
}

/// tp=4 is above the key heads of some models, cp=5 divides no cache.
TEST_P(GenerationTest, IsTheSameOnEveryMesh) {
  std::vector<const char *> meshes = {"dp=2",      "cp=5",      "dp=2,tp=2",
                                      "dp=2,cp=2", "cp=2,tp=2", "tp=2,cp=2",
                                      "pp=2,dp=2", "pp=2,tp=2"};
  if (model.splitsHeads(4))
    meshes.push_back("tp=4");
  if (model.experts)
    meshes = {"ep=2", "tp=2,ep=2", "pp=2,ep=2", "cp=2,ep=2"};
  std::vector<Continued> wanted = generate(artifactOf(""), 1);
  for (const char *mesh : meshes)
    expectSame(generate(artifactOf(mesh), 3), wanted, 1e-10, mesh);
}

/// Stages send what layers would read otherwise, and compute as they do.
TEST_P(GenerationTest, StagesHaveTheBitsOfOneRank) {
  std::vector<Continued> wanted = generate(artifactOf("", "f32"), 1);
  std::vector<Continued> found = generate(artifactOf("pp=2", "f32"), 1);
  for (size_t k = 0; k < wanted.size(); ++k) {
    EXPECT_EQ(found[k].tokens, wanted[k].tokens) << k;
    EXPECT_EQ(found[k].logProbabilities, wanted[k].logProbabilities) << k;
  }
}

/// Compares with the forward program's logits in the same types. The two round
/// in other places: greedy requests may choose among logits that are that near.
void expectNear(const std::vector<Continued> &results, const Values &logits,
                const std::string &where) {
  // Rounding to bf16 changes a value by at most 2^-8 of it, and most values by
  // less than half of that; a layer rounds five of them on the way of the
  // stream, for queries and keys, and the last norm one.
  const double share = (2 * 5 + 1) * std::exp2(-9);
  for (auto [k, result] : llvm::enumerate(results)) {
    const double sharpness = k % 2 ? 1 / 0.8 : 1;
    for (size_t at = result.prompt; at < result.tokens.size(); ++at) {
      const double *row = &logits[(k * kLength + at - 1) * size_t(kVocabulary)];
      double largest = 0, total = 0;
      for (int64_t v = 0; v < kVocabulary; ++v) {
        largest = std::max(largest, std::fabs(row[v]));
        total += std::exp(row[v] * sharpness);
      }
      const double chosen = row[result.tokens[at]];
      const double tolerance = 2 * share * largest * sharpness;
      EXPECT_NEAR(result.logProbabilities[at - result.prompt],
                  chosen * sharpness - std::log(total), tolerance)
          << where << ", request " << k << ", position " << at;
      if (k % 2 == 0) {
        EXPECT_GE(chosen, *std::max_element(row, row + kVocabulary) - tolerance)
            << where << ", request " << k << ", position " << at;
      }
    }
  }
}

/// Rounding may choose other experts.
using DenseGenerationTest = GenerationTest;
TEST_P(DenseGenerationTest, InMixedPrecisionIsTheForwardProgramToItsRounding) {
  for (const char *mesh : {"", "tp=2", "cp=2"}) {
    std::vector<Continued> results = generate(artifactOf(mesh, "bf16"), 1);
    Forward forward(config, "bf16");
    expectNear(results, forward.logits(sequencesOf(results)), mesh);
  }
}

/// In f64 products of integers, then scaled, are products of the weights that
/// these stand for. In f32 the two round in other places. Most weights of a
/// model with experts are in these, whose products take scales of their own.
TEST_P(GenerationTest, IntegerWeightsAreTheForwardProgramOfWhatIsStored) {
  std::vector<const char *> meshes = {"", "tp=2"};
  if (model.experts)
    meshes = {"", "ep=2", "tp=2", "dp=2,ep=2"};
  for (const char *mesh : meshes)
    for (const char *precision : {"f64", "f32"}) {
      std::string artifact = artifactOf(mesh, precision, 7, "int8");
      std::vector<Continued> results = generate(artifact, 1);
      Forward forward(config, precision);
      forward.takeParameters(TestGenerator(artifact));
      expectModel(results, forward.logits(sequencesOf(results)),
                  llvm::StringRef(precision) == "f64" ? 1e-11 : 1e-4,
                  std::string(mesh) + " " + precision);
    }
}

INSTANTIATE_TEST_SUITE_P(Models, GenerationTest,
                         ::testing::ValuesIn(testModels(&TestModel::isCausal)),
                         NameOfModel());
INSTANTIATE_TEST_SUITE_P(
    Models, DenseGenerationTest,
    ::testing::ValuesIn(testModels(&TestModel::isDenseDecoder)), NameOfModel());

//===----------------------------------------------------------------------===//
// Texts that transformers generates
//===----------------------------------------------------------------------===//

json::Object readJson(const std::string &path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  EXPECT_TRUE(file) << path;
  auto parsed = json::parse(file ? (*file)->getBuffer() : "{}");
  EXPECT_TRUE(bool(parsed)) << path;
  return std::move(*parsed->getAsObject());
}

/// Returns the model of a reference, with so many positions.
std::string longModel(const std::string &reference, int64_t positions) {
  Build build;
  build.generates = true;
  build.sequence = positions;
  build.maxBatch = 1;
  build.prefillChunk = 5;
  json::Object values{{"max_position_embeddings", positions}};
  std::string config = configWith(referenceConfig(reference), values);
  return compileModel(scratchFile("config.json", config), build);
}

void expectContinued(const Continued &found, const json::Object &wanted,
                     const std::string &family) {
  const json::Array &tokens = *wanted.getArray("tokens");
  const json::Array &logs = *wanted.getArray("log_probabilities");
  ASSERT_EQ(found.logProbabilities.size(), tokens.size()) << family;
  for (size_t i = 0; i < tokens.size(); ++i) {
    EXPECT_EQ(found.tokens[found.prompt + i], *tokens[i].getAsInteger())
        << family << ", new token " << i;
    EXPECT_NEAR(found.logProbabilities[i], *logs[i].getAsNumber(), 1e-9)
        << family << ", new token " << i;
  }
}

void expectGenerated(const std::string &family, const json::Object &wanted) {
  TestGenerator generator(longModel(family, *wanted.getInteger("positions")),
                          referencePath(family) + "/weights.safetensors");
  Tokens prompt;
  for (const json::Value &token : *wanted.getArray("prompt"))
    prompt.push_back(static_cast<int32_t>(*token.getAsInteger()));
  const json::Object &penalized = *wanted.getObject("penalized");
  tsr_request_options options = requestOf(0);
  options.repetition_penalty = *penalized.getNumber("penalty");
  int64_t plain = generator.add(prompt, requestOf(0));
  int64_t other = generator.add(prompt, options);
  generator.run();
  expectContinued(generator.result(plain), wanted, family);
  expectContinued(generator.result(other), penalized, family + ", penalized");
}

/// Returns the models that generate, and the references of generated.json.
std::set<std::string> generatingModels(const json::Object &all) {
  std::set<std::string> names;
  for (const TestModel &model : testModels())
    if (model.generates())
      names.insert(model.name);
  for (const std::string &name : ownReferences())
    if (all.get(name))
      names.insert(name);
  return names;
}

/// 64 tokens of each model; of GPT-2 as many as it has positions.
TEST(TransformersTest, ContinuesAsTransformersDo) {
  json::Object all = readJson(referencePath("generated.json"));
  for (const std::string &name : generatingModels(all)) {
    const json::Object *wanted = all.getObject(name);
    EXPECT_TRUE(wanted) << "generated.json has no text of " << name
                        << "; run reference/make_generation_reference.py";
    if (wanted)
      expectGenerated(name, *wanted);
  }
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

void expectRefused(TestGenerator &generator, const Tokens &prompt,
                   tsr_request_options options, const char *part) {
  int64_t id = -1;
  EXPECT_EQ(tsr_generator_add(generator.get(), prompt.data(), prompt.size(),
                              &options, &id),
            TSR_INVALID_ARGUMENT);
  EXPECT_NE(std::string(tsr_last_error()).find(part), std::string::npos)
      << tsr_last_error();
  EXPECT_EQ(id, -1);
}

TEST(RequestTest, WhatCannotBeIsRefused) {
  TestGenerator generator(generatorOf(smallConfig(), ""));
  expectRefused(generator, {}, requestOf(1), "no token");
  expectRefused(generator, Tokens(kLength, 1), requestOf(1), "--max-length");
  expectRefused(generator, {1, 61}, requestOf(1), "token 61 at position 1");
  expectRefused(generator, {-1}, requestOf(1), "token -1");
  expectRefused(generator, {1}, requestOf(-1), "max_new_tokens");
  tsr_request_options options = requestOf(1);
  options.temperature = NAN;
  expectRefused(generator, {1}, options, "temperature");
  options = requestOf(1);
  options.top_p = 1.5;
  expectRefused(generator, {1}, options, "top_p");
  options.top_p = NAN;
  expectRefused(generator, {1}, options, "top_p");
  options = requestOf(1);
  options.repetition_penalty = -1;
  expectRefused(generator, {1}, options, "the repetition penalty is -1");
  options = requestOf(1);
  options.alternatives = kVocabulary + 1;
  expectRefused(generator, {1}, options, "from 0 to 61");
  EXPECT_FALSE(generator.step());
}

/// The longest prompt, and as many tokens as fit.
TEST(RequestTest, EndsWhereItsPlacesEnd) {
  TestGenerator generator(generatorOf(smallConfig(), ""));
  int64_t longest = generator.add(Tokens(kLength - 1, 3), requestOf(0));
  int64_t other = generator.add({5}, requestOf(0));
  generator.run();
  EXPECT_EQ(generator.result(longest).tokens.size(), size_t(kLength));
  EXPECT_EQ(generator.result(other).tokens.size(), size_t(kLength));
  EXPECT_EQ(generator.result(other).ended, TSR_ENDED_LENGTH);
}

TEST(RequestTest, StopsAndIsCancelled) {
  std::string artifact = generatorOf(smallConfig(), "");
  TestGenerator first(artifact);
  int64_t id = first.add({7, 8}, requestOf(8));
  first.run();
  int32_t stop = first.result(id).tokens[4];
  TestGenerator generator(artifact);
  tsr_request_options options = requestOf(8);
  options.stop_tokens = &stop;
  options.stop_count = 1;
  int64_t stopped = generator.add({7, 8}, options);
  int64_t running = generator.add({1, 2, 3}, requestOf(9));
  int64_t waiting = 0;
  for (int k = 0; k < 4; ++k)
    waiting = generator.add({4}, requestOf(3));
  generator.step();
  EXPECT_EQ(tsr_generator_cancel(generator.get(), running), TSR_OK);
  EXPECT_EQ(tsr_generator_cancel(generator.get(), waiting), TSR_OK);
  generator.run();
  EXPECT_EQ(generator.result(stopped).ended, TSR_ENDED_STOP);
  EXPECT_EQ(generator.result(stopped).tokens.back(), stop);
  EXPECT_LE(generator.result(stopped).tokens.size(), size_t(5));
  EXPECT_EQ(generator.result(running).ended, TSR_ENDED_CANCELLED);
  EXPECT_EQ(generator.result(running).tokens.size(), size_t(4));
  EXPECT_EQ(generator.result(waiting).ended, TSR_ENDED_CANCELLED);
  EXPECT_EQ(generator.result(waiting).tokens.size(), size_t(1));
  EXPECT_EQ(tsr_generator_cancel(generator.get(), stopped), TSR_NOT_FOUND);
}

/// Tokens of both halves of a split vocabulary are penalized, and reported.
TEST(RequestTest, PenaltiesAndAlternativesAreTheSameOnEveryMesh) {
  std::vector<Continued> wanted;
  for (const char *mesh : {"", "dp=2,tp=2"}) {
    TestGenerator generator(generatorOf(smallConfig(), mesh));
    std::vector<Continued> found;
    std::vector<int64_t> ids;
    for (int64_t k = 0; k < 4; ++k) {
      tsr_request_options options = drawing(12, k);
      options.temperature = k % 2 ? 0.9 : 0;
      options.repetition_penalty = k < 2 ? 1.8 : 0.7;
      options.alternatives = 5;
      ids.push_back(generator.add({2, 40, 60, 7}, options));
    }
    generator.run();
    for (int64_t id : ids)
      found.push_back(generator.result(id));
    for (const Continued &result : found)
      EXPECT_EQ(result.alternatives.size(), 12u * 5) << mesh;
    if (wanted.empty()) {
      wanted = found;
      continue;
    }
    expectSame(found, wanted, 1e-10, mesh);
  }
}

/// The most probable token alone is left of each restriction.
TEST(RequestTest, RestrictedDrawsKeepTheMostProbable) {
  std::string artifact = generatorOf(smallConfig(), "");
  TestGenerator generator(artifact);
  std::vector<int64_t> ids = {generator.add({9}, requestOf(6))};
  for (int k = 0; k < 3; ++k) {
    tsr_request_options options = drawing(6, 40 + k);
    options.top_k = k == 0;
    options.top_p = k == 1 ? 1e-9 : 0;
    options.min_p = k == 2;
    ids.push_back(generator.add({9}, options));
  }
  generator.run();
  for (int64_t id : ids)
    EXPECT_EQ(generator.result(id).tokens, generator.result(ids[0]).tokens);
}

//===----------------------------------------------------------------------===//
// Rows that the caller places
//===----------------------------------------------------------------------===//

/// Runs rows on 4 slots, 24 places and chunks of 7. Returns "" or why they do
/// not run.
std::string whyRefused(TestGenerator &generator,
                       const std::vector<tsr_row> &rows) {
  Values logits(4 * kVocabulary);
  tsr_status status = tsr_generator_run_rows(
      generator.get(), rows.data(), rows.size(), logits.data(), logits.size());
  EXPECT_TRUE(status == TSR_OK || status == TSR_INVALID_ARGUMENT);
  return status == TSR_OK ? "" : tsr_last_error();
}

TEST(RowTest, WhatNoStepRunsIsRefused) {
  TestGenerator generator(generatorOf(smallConfig(), ""));
  auto expectRefused = [&](const std::vector<tsr_row> &rows, const char *part) {
    std::string why = whyRefused(generator, rows);
    EXPECT_NE(why.find(part), std::string::npos) << why;
  };
  EXPECT_EQ(whyRefused(generator, {{7, 0, 2, 0, 5, 0}, {7, 0, 2, 1, 6, 1}}),
            "");
  expectRefused({{7, 0, 2, 1, 5, 1}}, "the next position is 2");
  expectRefused({{8, 0, 2, 2, 5, 1}}, "does not begin at 0");
  expectRefused({{8, 1, 2, 0, 5, 1}}, "lane 1 of 1");
  expectRefused({{8, 0, 4, 0, 5, 1}}, "slot 4 of 4");
  expectRefused({{8, 0, -1, 0, 5, 1}}, "slot -1 of 4");
  expectRefused({{8, 0, 1, 0, 61, 1}}, "token 61");
  expectRefused({{8, 0, 1, -1, 5, 1}}, "position -1");
  expectRefused(std::vector<tsr_row>(12, {-1, 0, -1, 0, 0, 0}),
                "12 rows, a step at most 11");
  EXPECT_EQ(whyRefused(generator, {{-1, 0, -1, 0, 0, 0}, {7, 0, 2, 2, 5, 1}}),
            "");
  generator.add({1}, requestOf(1));
  expectRefused({{8, 0, 1, 0, 5, 1}}, "1 requests wait or run");
}

TEST(RequestTest, OtherArtifactsSayWhatToCompile) {
  Build build;
  tsr_artifact *artifact = nullptr;
  std::string path = compileModel(smallConfig(), build);
  ASSERT_EQ(tsr_artifact_load(path.c_str(), &artifact), TSR_OK);
  tsr_generator *generator = nullptr;
  EXPECT_EQ(tsr_generator_create(artifact, nullptr, nullptr, &generator),
            TSR_UNSUPPORTED);
  EXPECT_NE(std::string(tsr_last_error()).find("--programs generate"),
            std::string::npos);
  tsr_artifact_destroy(artifact);
  Trainer trainer(generatorOf(smallConfig(), ""));
  Tokens tokens(build.batch * (kLength + 1), 1);
  tsr_step_result result;
  EXPECT_EQ(
      tsr_session_step(trainer.get(), tokens.data(), tokens.size(), &result),
      TSR_UNSUPPORTED);
  EXPECT_NE(std::string(tsr_last_error()).find("--programs train"),
            std::string::npos);
}

} // namespace
