//===- PairGenerationTest.cpp - texts of an encoder-decoder model ---------===//
// Texts of a T5 are those that the training step's forward makes of their
// sources: sources of any length, in any slot and order of arrival, on every
// mesh, with NaN where nothing was appended.
//===----------------------------------------------------------------------===//

#include "test/Numerics/Model.h"
#include "test/Numerics/TestGenerator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace tessera::test;

namespace {

/// Distances beyond the farthest bucket occur; the two stacks differ.
constexpr const char *kConfig =
    R"({"model_type": "t5", "num_layers": 1, "num_decoder_layers": 2,
        "d_model": 32, "d_kv": 6, "d_ff": 44, "num_heads": 4, "vocab_size": 61,
        "feed_forward_proj": "gated-gelu", "tie_word_embeddings": false,
        "relative_attention_num_buckets": 8, "dropout_rate": 0,
        "relative_attention_max_distance": 9, "decoder_start_token_id": 2,
        "pad_token_id": 60, "initializer_factor": 2})";
constexpr int64_t kLength = 16, kVocabulary = 61, kSequences = 6;
constexpr int32_t kPadding = 60;

std::string generatorOf(const char *mesh, const char *precision = "f64",
                        int64_t chunk = 7) {
  Build build{Strategy{mesh}};
  build.generates = true;
  build.precision = precision;
  build.sequence = kLength;
  build.maxBatch = 4;
  build.prefillChunk = chunk;
  return compileModel(scratchFile("config.json", kConfig), build);
}

Tokens sourceOf(int64_t request) {
  std::mt19937 random(static_cast<uint32_t>(request + 1));
  Tokens source(1 + random() % kLength);
  for (int32_t &token : source)
    token = static_cast<int32_t>(random() % kPadding);
  return source;
}

/// Six requests for four slots, some after some steps; every other one draws.
std::vector<Continued> generate(const std::string &artifact, uint32_t seed) {
  TestGenerator generator(artifact);
  std::mt19937 random(seed);
  std::vector<int64_t> ids;
  for (int64_t k = 0; k < kSequences; ++k) {
    tsr_request_options options = requestOf(4 + 2 * k);
    options.temperature = k % 2 ? 0.8 : 0;
    options.seed = k;
    ids.push_back(generator.add(sourceOf(k), options));
    for (uint32_t step = random() % 4; step-- > 0;)
      generator.step();
  }
  generator.run();
  std::vector<Continued> results;
  for (int64_t id : ids)
    results.push_back(generator.result(id));
  return results;
}

Tokens newTokens(const Continued &result) {
  return Tokens(result.tokens.begin() + static_cast<int64_t>(result.prompt),
                result.tokens.end());
}

/// Returns logits [sequences, length, vocabulary] by the training step: token i
/// of a sequence is chosen from row i.
Values forwardLogits(const std::vector<Continued> &results,
                     const char *precision) {
  Build build;
  build.keepValues = true;
  build.paddingMask = true;
  build.precision = precision;
  build.sequence = kLength;
  build.batch = kSequences;
  Trainer trainer(compileModel(scratchFile("config.json", kConfig), build));
  Tokens ids(kSequences * kLength, kPadding), labels(ids.size(), -100);
  for (auto [k, result] : llvm::enumerate(results)) {
    llvm::copy(sourceOf(static_cast<int64_t>(k)), ids.begin() + k * kLength);
    llvm::copy(newTokens(result), labels.begin() + k * kLength);
  }
  trainer.step(ids, labels, {});
  for (const TensorName &tensor : trainer.tensors("value"))
    if (llvm::StringRef(tensor.name).ends_with("einsum of head"))
      return trainer.read(tensor);
  ADD_FAILURE() << "the step keeps no logits";
  return {};
}

void expectModel(const std::vector<Continued> &results, const Values &logits,
                 double tolerance, const std::string &where) {
  ASSERT_EQ(logits.size(), size_t(kSequences * kLength * kVocabulary));
  for (auto [k, result] : llvm::enumerate(results)) {
    const double sharpness = k % 2 ? 1 / 0.8 : 1;
    const Tokens tokens = newTokens(result);
    EXPECT_EQ(result.ended, TSR_ENDED_LENGTH) << where;
    ASSERT_EQ(tokens.size(), 4 + 2 * k) << where;
    for (auto [i, token] : llvm::enumerate(tokens)) {
      const double *row = &logits[(k * kLength + i) * size_t(kVocabulary)];
      const double *best = std::max_element(row, row + kVocabulary);
      double total = 0;
      for (int64_t v = 0; v < kVocabulary; ++v)
        total += std::exp((row[v] - *best) * sharpness);
      if (k % 2 == 0) {
        EXPECT_EQ(token, best - row) << where << ", request " << k;
      }
      EXPECT_NEAR(result.logProbabilities[i],
                  (row[token] - *best) * sharpness - std::log(total), tolerance)
          << where << ", request " << k << ", token " << i;
    }
  }
}

TEST(PairGenerationTest, IsTheForwardProgram) {
  std::vector<Continued> results = generate(generatorOf(""), 1);
  expectModel(results, forwardLogits(results, "f64"), 1e-11, "f64");
  results = generate(generatorOf("", "f32"), 1);
  expectModel(results, forwardLogits(results, "f32"), 1e-4, "f32");
}

TEST(PairGenerationTest, IsTheSameOnEveryMeshAndSchedule) {
  std::vector<Continued> wanted = generate(generatorOf(""), 1);
  auto expectSame = [&](const std::vector<Continued> &found,
                        const std::string &where) {
    for (auto [own, other] : llvm::zip(found, wanted)) {
      EXPECT_EQ(own.tokens, other.tokens) << where;
      ASSERT_EQ(own.logProbabilities.size(), other.logProbabilities.size());
      for (size_t i = 0; i < own.logProbabilities.size(); ++i)
        EXPECT_NEAR(own.logProbabilities[i], other.logProbabilities[i], 1e-10)
            << where;
    }
  };
  expectSame(generate(generatorOf(""), 5), "arrivals");
  for (const char *mesh : {"tp=4", "dp=2,tp=2", "dp=4", "pp=3", "cp=3",
                           "pp=2,tp=2", "cp=2,tp=2", "pp=2,cp=2"})
    expectSame(generate(generatorOf(mesh), 3), mesh);
}

/// The source of a text decides its tokens, whatever was in its slot.
TEST(PairGenerationTest, TextsThatBeginAlikeAreOfTheirSources) {
  TestGenerator generator(generatorOf(""));
  std::vector<int64_t> ids;
  for (int64_t k : {0, 1, 0, 1, 0, 0})
    ids.push_back(generator.add(sourceOf(k), requestOf(6)));
  generator.run();
  const Continued first = generator.result(ids[0]),
                  second = generator.result(ids[1]);
  EXPECT_NE(first.logProbabilities, second.logProbabilities);
  for (size_t k : {2, 4, 5})
    EXPECT_EQ(generator.result(ids[k]).logProbabilities,
              first.logProbabilities);
  EXPECT_EQ(generator.result(ids[3]).logProbabilities, second.logProbabilities);
  EXPECT_EQ(tsr_generator_reused(generator.get()), 0);
}

void expectRefused(tsr_status found, tsr_status status, const char *part) {
  EXPECT_EQ(found, status);
  EXPECT_NE(std::string(tsr_last_error()).find(part), std::string::npos)
      << tsr_last_error();
}

TEST(PairGenerationTest, WhatCannotBeIsRefused) {
  TestGenerator generator(generatorOf(""));
  auto add = [&](const Tokens &source) {
    int64_t id = -1;
    tsr_request_options options = requestOf(1);
    return tsr_generator_add(generator.get(), source.data(), source.size(),
                             &options, &id);
  };
  expectRefused(add({}), TSR_INVALID_ARGUMENT, "the source has no token");
  expectRefused(add(Tokens(kLength + 1, 1)), TSR_INVALID_ARGUMENT,
                "the source has 17 tokens, of at most 16");
  expectRefused(add({1, 61}), TSR_INVALID_ARGUMENT,
                "token 61 at position 1 of the source");
  Tokens text = {1, 2, 3};
  int64_t id = -1;
  expectRefused(tsr_generator_score(generator.get(), text.data(), text.size(),
                                    1, nullptr, &id),
                TSR_UNSUPPORTED, "cannot be scored without its source");
  Values logits(4 * kVocabulary);
  tsr_row row = {7, 0, 1, 0, 2, 1};
  auto run = [&] {
    return tsr_generator_run_rows(generator.get(), &row, 1, logits.data(),
                                  logits.size());
  };
  expectRefused(run(), TSR_INVALID_ARGUMENT, "has no source in its slot");
  auto place = [&](int64_t of, int64_t slot) {
    return tsr_generator_place_source(generator.get(), of, 0, slot, text.data(),
                                      text.size());
  };
  EXPECT_EQ(place(6, 1), TSR_OK);
  expectRefused(run(), TSR_INVALID_ARGUMENT, "has that of request 6");
  expectRefused(place(7, 4), TSR_INVALID_ARGUMENT, "slot 4 of lane 0");
  EXPECT_EQ(place(7, 1), TSR_OK);
  EXPECT_EQ(run(), TSR_OK);
}

} // namespace
