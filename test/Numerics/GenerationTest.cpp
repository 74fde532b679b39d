//===- GenerationTest.cpp - prefill and decode are the model --------------===//
// Generated tokens are those that the training step's forward makes of the same
// tokens: in any chunking, batch and order of arrival, on every mesh, with NaN
// where nothing was appended.
//===----------------------------------------------------------------------===//

#include "test/Numerics/Model.h"
#include "test/Numerics/TestGenerator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace tessera::test;

namespace {

/// Sizes that 2 and 4 do not divide, weights that make logits differ.
struct Family {
  const char *name, *config;
};
const Family kFamilies[] = {
    {"gpt2", R"({"model_type": "gpt2", "n_layer": 2, "n_head": 4, "n_embd": 32,
        "n_positions": 24, "vocab_size": 61, "initializer_range": 0.3,
        "resid_pdrop": 0, "embd_pdrop": 0, "attn_pdrop": 0})"},
    {"llama", R"({"model_type": "llama", "num_hidden_layers": 2,
        "hidden_size": 32, "intermediate_size": 44, "num_attention_heads": 4,
        "num_key_value_heads": 2, "max_position_embeddings": 32,
        "vocab_size": 61, "rms_norm_eps": 1e-5, "hidden_act": "silu",
        "initializer_range": 0.3})"},
    {"mistral", R"({"model_type": "mistral", "num_hidden_layers": 2,
        "hidden_size": 32, "intermediate_size": 44, "num_attention_heads": 4,
        "num_key_value_heads": 2, "max_position_embeddings": 32,
        "vocab_size": 61, "rms_norm_eps": 1e-5, "hidden_act": "silu",
        "sliding_window": 5, "initializer_range": 0.3})"},
    {"qwen2", R"({"model_type": "qwen2", "num_hidden_layers": 2,
        "hidden_size": 32, "intermediate_size": 44, "num_attention_heads": 4,
        "num_key_value_heads": 1, "max_position_embeddings": 32,
        "vocab_size": 61, "rms_norm_eps": 1e-5, "hidden_act": "silu",
        "initializer_range": 0.3})"},
    {"mixtral", R"({"model_type": "mixtral", "num_hidden_layers": 2,
        "hidden_size": 32, "intermediate_size": 44, "num_attention_heads": 4,
        "num_key_value_heads": 2, "max_position_embeddings": 32,
        "vocab_size": 61, "rms_norm_eps": 1e-5, "hidden_act": "silu",
        "num_local_experts": 4, "num_experts_per_tok": 2,
        "initializer_range": 0.3})"}};
constexpr int64_t kLength = 24, kVocabulary = 61, kSequences = 6;

std::string configOf(const Family &family) {
  return scratchFile("config.json", family.config);
}

std::string generatorOf(const Family &family, const char *mesh,
                        const char *precision = "f64", int64_t chunk = 7,
                        const char *weights = "precision") {
  Build build{Strategy{mesh}};
  build.flags = {{"weights", weights}};
  build.generates = true;
  build.precision = precision;
  build.sequence = kLength;
  build.maxBatch = 4;
  build.prefillChunk = chunk;
  return compileModel(configOf(family), build);
}

/// The whole sequences at once, by the training step.
class Forward {
public:
  Forward(const Family &family, const char *precision) {
    Build build;
    build.keepValues = true;
    build.precision = precision;
    build.sequence = kLength;
    build.batch = kSequences;
    trainer = std::make_unique<Trainer>(compileModel(configOf(family), build));
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

class GenerationTest : public ::testing::TestWithParam<int> {
protected:
  const Family &family() const { return kFamilies[GetParam()]; }
  std::vector<Tokens> sequencesOf(const std::vector<Continued> &results) {
    std::vector<Tokens> sequences;
    for (const Continued &result : results)
      sequences.push_back(result.tokens);
    return sequences;
  }
};

TEST_P(GenerationTest, IsTheForwardProgram) {
  std::vector<Continued> results = generate(generatorOf(family(), ""), 1);
  Forward forward(family(), "f64");
  expectModel(results, forward.logits(sequencesOf(results)), 1e-11,
              family().name);
}

/// Other arrivals, chunks and threads meet in other steps.
TEST_P(GenerationTest, DoesNotDependOnTheSchedule) {
  std::vector<Continued> wanted = generate(generatorOf(family(), ""), 1);
  expectSame(generate(generatorOf(family(), ""), 5), wanted, 1e-11, "arrivals");
  expectSame(generate(generatorOf(family(), "", "f64", 1), 9), wanted, 1e-11,
             "chunks of 1");
}

TEST_P(GenerationTest, IsTheSameOnEveryMesh) {
  std::vector<const char *> meshes = {"pp=2,tp=2", "dp=2", "cp=2,tp=2"};
  if (GetParam() == 0) // its slots have 24 places
    meshes = {"dp=2,tp=2", "tp=4", "pp=2,dp=2", "cp=5", "dp=2,cp=2"};
  if (llvm::StringRef(family().name) == "qwen2")
    meshes = {"tp=4", "dp=2,tp=2", "tp=2,cp=2"}; // above its one key head
  if (llvm::StringRef(family().name) == "mixtral")
    meshes = {"ep=2", "tp=2,ep=2", "pp=2,ep=2", "cp=2,ep=2"};
  std::vector<Continued> wanted = generate(generatorOf(family(), ""), 1);
  for (const char *mesh : meshes)
    expectSame(generate(generatorOf(family(), mesh), 3), wanted, 1e-10, mesh);
}

INSTANTIATE_TEST_SUITE_P(Families, GenerationTest,
                         ::testing::Range(0, int(std::size(kFamilies))),
                         [](const ::testing::TestParamInfo<int> &info) {
                           return kFamilies[info.param].name;
                         });

/// Stages send what layers would read otherwise, and compute as they do.
TEST(StagesTest, HaveTheBitsOfOneRank) {
  for (int64_t number : {0, 1}) {
    const Family &family = kFamilies[number];
    std::vector<Continued> wanted = generate(generatorOf(family, "", "f32"), 1),
                           found =
                               generate(generatorOf(family, "pp=2", "f32"), 1);
    for (size_t k = 0; k < wanted.size(); ++k) {
      EXPECT_EQ(found[k].tokens, wanted[k].tokens) << family.name << " " << k;
      EXPECT_EQ(found[k].logProbabilities, wanted[k].logProbabilities)
          << family.name << " " << k;
    }
  }
}

TEST(SinglePrecisionTest, IsTheForwardProgram) {
  std::vector<Continued> results =
      generate(generatorOf(kFamilies[1], "", "f32"), 1);
  std::vector<Tokens> sequences;
  for (const Continued &result : results)
    sequences.push_back(result.tokens);
  Forward forward(kFamilies[1], "f32");
  expectModel(results, forward.logits(sequences), 1e-4, "f32");
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

TEST(MixedPrecisionTest, IsTheForwardProgramToItsRounding) {
  for (int64_t number : {0, 1})
    for (const char *mesh : {"", "tp=2", "cp=2"}) {
      const Family &family = kFamilies[number];
      std::vector<Continued> results =
          generate(generatorOf(family, mesh, "bf16"), 1);
      std::vector<Tokens> sequences;
      for (const Continued &result : results)
        sequences.push_back(result.tokens);
      Forward forward(family, "bf16");
      expectNear(results, forward.logits(sequences),
                 std::string(family.name) + " " + mesh);
    }
}

void expectForwardOfStored(const Family &family, const char *mesh) {
  for (const char *precision : {"f64", "f32"}) {
    std::string artifact = generatorOf(family, mesh, precision, 7, "int8");
    std::vector<Continued> results = generate(artifact, 1);
    std::vector<Tokens> sequences;
    for (const Continued &result : results)
      sequences.push_back(result.tokens);
    Forward forward(family, precision);
    forward.takeParameters(TestGenerator(artifact));
    expectModel(results, forward.logits(sequences),
                llvm::StringRef(precision) == "f64" ? 1e-11 : 1e-4,
                std::string(family.name) + " " + mesh + " " + precision);
  }
}

/// In f64 products of integers, then scaled, are products of the weights that
/// these stand for. In f32 the two round in other places.
TEST(QuantizedTest, IsTheForwardProgramOfWhatIsStored) {
  for (int64_t number : {0, 1, 3})
    for (const char *mesh : {"", "tp=2"})
      expectForwardOfStored(kFamilies[number], mesh);
}

/// Most weights are in experts, whose products take scales of their own.
TEST(QuantizedTest, ExpertsAreTheForwardProgramOfWhatIsStored) {
  for (const char *mesh : {"", "ep=2", "tp=2", "dp=2,ep=2"})
    expectForwardOfStored(kFamilies[4], mesh);
}

//===----------------------------------------------------------------------===//
// Texts that transformers generates
//===----------------------------------------------------------------------===//

namespace json = llvm::json;

json::Object readJson(const std::string &path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  EXPECT_TRUE(file) << path;
  auto parsed = json::parse(file ? (*file)->getBuffer() : "{}");
  EXPECT_TRUE(bool(parsed)) << path;
  return std::move(*parsed->getAsObject());
}

/// Returns the model of a folder, with so many positions.
std::string longModel(const std::string &folder, int64_t positions) {
  json::Object config = readJson(folder + "/config.json");
  if (config.get("max_position_embeddings"))
    config["max_position_embeddings"] = positions;
  std::string text;
  llvm::raw_string_ostream(text) << json::Value(std::move(config));
  Build build;
  build.generates = true;
  build.sequence = positions;
  build.maxBatch = 1;
  build.prefillChunk = 5;
  return compileModel(scratchFile("config.json", text), build);
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
  std::string folder = REFERENCE_DIRECTORY;
  if (family != "gpt2")
    folder += "/" + family;
  TestGenerator generator(longModel(folder, *wanted.getInteger("positions")),
                          folder + "/weights.safetensors");
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

/// 64 tokens of each family; of GPT-2 as many as it has positions.
TEST(TransformersTest, ContinuesAsTransformersDo) {
  json::Object all = readJson(REFERENCE_DIRECTORY "/generated.json");
  EXPECT_EQ(all.size(), 9u);
  for (auto &[family, wanted] : all)
    expectGenerated(family.str(), *wanted.getAsObject());
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
  TestGenerator generator(generatorOf(kFamilies[0], ""));
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
  TestGenerator generator(generatorOf(kFamilies[0], ""));
  int64_t longest = generator.add(Tokens(kLength - 1, 3), requestOf(0));
  int64_t other = generator.add({5}, requestOf(0));
  generator.run();
  EXPECT_EQ(generator.result(longest).tokens.size(), size_t(kLength));
  EXPECT_EQ(generator.result(other).tokens.size(), size_t(kLength));
  EXPECT_EQ(generator.result(other).ended, TSR_ENDED_LENGTH);
}

TEST(RequestTest, StopsAndIsCancelled) {
  std::string artifact = generatorOf(kFamilies[0], "");
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
    TestGenerator generator(generatorOf(kFamilies[0], mesh));
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
  std::string artifact = generatorOf(kFamilies[1], "");
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
  TestGenerator generator(generatorOf(kFamilies[0], ""));
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
  std::string path = compileModel(configOf(kFamilies[0]), build);
  ASSERT_EQ(tsr_artifact_load(path.c_str(), &artifact), TSR_OK);
  tsr_generator *generator = nullptr;
  EXPECT_EQ(tsr_generator_create(artifact, nullptr, nullptr, &generator),
            TSR_UNSUPPORTED);
  EXPECT_NE(std::string(tsr_last_error()).find("--programs generate"),
            std::string::npos);
  tsr_artifact_destroy(artifact);
  Trainer trainer(generatorOf(kFamilies[0], ""));
  Tokens tokens(build.batch * (kLength + 1), 1);
  tsr_step_result result;
  EXPECT_EQ(
      tsr_session_step(trainer.get(), tokens.data(), tokens.size(), &result),
      TSR_UNSUPPORTED);
  EXPECT_NE(std::string(tsr_last_error()).find("--programs train"),
            std::string::npos);
}

} // namespace
