//===- ScoringTest.cpp - tokens that steps of rows score ------------------===//
// Requests that score share prompts, caches and steps with others; what they
// say is what an evaluation of each text as a whole says, with NaN where
// nothing was appended.
//===----------------------------------------------------------------------===//

#include "mlir/IR/Builders.h"
#include "tessera/Target/WriteArtifact.h"
#include "tessera/abi.h"
#include "test/Numerics/Model.h"
#include "test/Numerics/TestGenerator.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace tessera::test;

namespace {

constexpr int64_t kLength = 16, kVocabulary = 61;

struct Case {
  const char *name, *config, *mesh, *precision;
  const char *programs = "generate";
};
const char *const kGpt2 =
    R"({"model_type": "gpt2", "n_layer": 2, "n_head": 4, "n_embd": 32,
        "n_positions": 16, "vocab_size": 61, "initializer_range": 0.3,
        "resid_pdrop": 0.1, "embd_pdrop": 0.1, "attn_pdrop": 0.1})";
const char *const kMixtral =
    R"({"model_type": "mixtral", "num_hidden_layers": 2, "hidden_size": 32,
        "intermediate_size": 44, "num_attention_heads": 4,
        "num_key_value_heads": 2, "max_position_embeddings": 16,
        "vocab_size": 61, "rms_norm_eps": 1e-5, "hidden_act": "silu",
        "num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": 5,
        "initializer_range": 0.3})";
const Case kCases[] = {
    {"Serial", kGpt2, "", "f64"},
    {"Lanes", kGpt2, "dp=2,tp=2", "f64"},
    {"Stages", kGpt2, "pp=2,tp=2", "f64"},
    {"Experts", kMixtral, "tp=2,ep=2", "f64"},
    {"BesideTraining", kGpt2, "tp=2", "f64", "train,generate"},
    {"Single", kGpt2, "tp=4", "f32"}};

std::string generatorOf(const Case &given) {
  Build build{Strategy{given.mesh}};
  build.precision = given.precision;
  build.flags = {{"programs", given.programs}};
  build.generates = std::string(given.programs) == "generate";
  build.sequence = kLength;
  build.maxBatch = 4;
  build.prefillChunk = 5;
  return compileModel(scratchFile("config.json", given.config), build);
}

/// Returns its training step, serial, in f64.
std::string evaluationOf(const Case &given) {
  Build build;
  build.evaluation = build.ignoresLabels = true;
  build.sequence = kLength;
  build.batch = 1;
  return compileModel(scratchFile("config.json", given.config), build);
}

struct Text {
  Tokens tokens;
  size_t given;
};

/// Prompts of 1 to 12 tokens, each with three continuations, the last of which
/// fills all places.
std::vector<Text> textsToScore() {
  std::vector<Text> texts;
  for (int32_t prompt : {1, 4, 12, 7})
    for (int32_t length : {1, 3, int32_t(kLength + 1) - prompt}) {
      Text text{{}, size_t(prompt)};
      for (int32_t k = 0; k < prompt; ++k)
        text.tokens.push_back((prompt * 7 + k * 5) % kVocabulary);
      for (int32_t k = 0; k < length; ++k)
        text.tokens.push_back((length * 11 + k * 3 + prompt) % kVocabulary);
      texts.push_back(text);
    }
  return texts;
}

int64_t addTo(TestGenerator &generator, const Text &text,
              bool isRecomputed = false) {
  tsr_score_options options = {};
  options.size = sizeof options;
  options.recompute_prompt = isRecomputed;
  int64_t id = -1;
  EXPECT_EQ(tsr_generator_score(generator.get(), text.tokens.data(),
                                text.tokens.size(), text.given, &options, &id),
            TSR_OK)
      << tsr_last_error();
  return id;
}

std::vector<tsr_token_score> take(TestGenerator &generator, int64_t id,
                                  const Text &text) {
  std::vector<tsr_token_score> scores(text.tokens.size() - text.given);
  int32_t ended = TSR_GOES_ON;
  EXPECT_EQ(tsr_generator_take_scores(generator.get(), id, scores.data(),
                                      scores.size(), &ended),
            TSR_OK)
      << tsr_last_error();
  EXPECT_EQ(ended, TSR_ENDED_SCORED);
  return scores;
}

/// Compares each token's score with those of the texts that end with it, and
/// before it.
void expectEvaluated(Trainer &trainer, const Text &text,
                     const std::vector<tsr_token_score> &found,
                     double tolerance) {
  tsr_score before = {0, 0};
  for (size_t end = text.given + 1; end <= text.tokens.size(); ++end) {
    tsr_score score;
    ASSERT_EQ(tsr_session_score(trainer.get(), text.tokens.data(), end,
                                text.given, &score),
              TSR_OK)
        << tsr_last_error();
    const tsr_token_score &token = found[end - text.given - 1];
    EXPECT_NEAR(token.log_probability,
                score.log_probability - before.log_probability, tolerance);
    EXPECT_EQ(token.is_largest, score.predicted - before.predicted);
    before = score;
  }
}

class ScoresTest : public testing::TestWithParam<Case> {};

TEST_P(ScoresTest, AreTheEvaluations) {
  const std::vector<Text> texts = textsToScore();
  Trainer evaluation(evaluationOf(GetParam()));
  SessionSettings settings;
  settings.poison = true;
  settings.threads = 2;
  Trainer trainer(generatorOf(GetParam()), settings);
  TestGenerator generator(trainer);
  std::vector<int64_t> ids;
  for (const Text &text : texts)
    ids.push_back(addTo(generator, text));
  generator.run();
  const double tolerance =
      std::string(GetParam().precision) == "f64" ? 1e-11 : 1e-4;
  for (size_t k = 0; k < texts.size(); ++k)
    expectEvaluated(evaluation, texts[k], take(generator, ids[k], texts[k]),
                    tolerance);
}

INSTANTIATE_TEST_SUITE_P(Meshes, ScoresTest, testing::ValuesIn(kCases),
                         [](const testing::TestParamInfo<Case> &info) {
                           return info.param.name;
                         });

/// The part that continuations share runs once: the prompt but for its last
/// token, after which each continuation begins.
TEST(ScoringTest, ContinuationsShareTheirPrompt) {
  TestGenerator generator(generatorOf(kCases[0]));
  std::vector<Text> texts;
  for (int32_t k = 0; k < 4; ++k)
    texts.push_back({{9, 8, 7, 6, 5, 4, 3, 2, 1, 20 + k, 30}, 9});
  std::vector<int64_t> ids;
  for (const Text &text : texts)
    ids.push_back(addTo(generator, text));
  int64_t rows = 0, all = 0;
  while (tsr_generator_step(generator.get(), &rows) == TSR_OK && rows > 0)
    all += rows;
  EXPECT_EQ(tsr_generator_reused(generator.get()), 3 * 8);
  EXPECT_EQ(all, 8 + 4 * 2);
  for (size_t k = 0; k < texts.size(); ++k) {
    TestGenerator fresh(generatorOf(kCases[0]));
    int64_t id = addTo(fresh, texts[k], /*isRecomputed=*/true);
    fresh.run();
    EXPECT_EQ(tsr_generator_reused(fresh.get()), 0);
    const auto wanted = take(fresh, id, texts[k]);
    const auto found = take(generator, ids[k], texts[k]);
    for (size_t i = 0; i < wanted.size(); ++i)
      EXPECT_NEAR(found[i].log_probability, wanted[i].log_probability, 1e-12);
  }
}

/// Texts go on, and are scored, as if the others were not there; what was
/// generated is scored with the log-probabilities that it was reported with.
TEST(ScoringTest, RunsBesideRequestsThatGoOn) {
  for (const Case &given : {kCases[0], kCases[1]}) {
    auto texts = textsToScore();
    TestGenerator alone(generatorOf(given)), generator(generatorOf(given));
    std::vector<int64_t> wanted, found, scored;
    for (int32_t k = 0; k < 3; ++k) {
      wanted.push_back(alone.add({k, 2, 3}, requestOf(9)));
      found.push_back(generator.add({k, 2, 3}, requestOf(9)));
      scored.push_back(addTo(generator, texts[k]));
      generator.step();
    }
    alone.run();
    generator.run();
    for (size_t k = 0; k < wanted.size(); ++k) {
      const Continued &text = alone.result(wanted[k]);
      EXPECT_EQ(generator.result(found[k]).tokens, text.tokens);
      take(generator, scored[k], texts[k]);
      const Text whole{text.tokens, text.prompt};
      int64_t id = addTo(generator, whole);
      generator.run();
      const auto scores = take(generator, id, whole);
      for (size_t i = 0; i < scores.size(); ++i) {
        EXPECT_NEAR(scores[i].log_probability, text.logProbabilities[i], 1e-11);
        EXPECT_TRUE(scores[i].is_largest) << "it was the most probable token";
      }
    }
  }
}

TEST(ScoringTest, WhatCannotBeScoredIsRefused) {
  TestGenerator generator(generatorOf(kCases[0]));
  auto expectRefused = [&](const Tokens &tokens, size_t given,
                           const char *part) {
    int64_t id = -1;
    EXPECT_EQ(tsr_generator_score(generator.get(), tokens.data(), tokens.size(),
                                  given, nullptr, &id),
              TSR_INVALID_ARGUMENT);
    EXPECT_EQ(id, -1);
    EXPECT_NE(std::string(tsr_last_error()).find(part), std::string::npos)
        << tsr_last_error();
  };
  expectRefused({}, 0, "0 of the 0 tokens are given");
  expectRefused({1, 2}, 0, "0 of the 2 tokens are given");
  expectRefused({1, 2}, 2, "2 of the 2 tokens are given");
  expectRefused(Tokens(kLength + 2, 1), 1,
                "18 tokens, of at most 17 that can be scored; compile the "
                "model with a larger --max-length");
  expectRefused({1, kVocabulary}, 1, "token 61 at position 1");
  expectRefused({-1, 1}, 1, "token -1 at position 0");
  EXPECT_EQ(tsr_generator_active(generator.get()), 0);
}

TEST(ScoringTest, ScoresAreTakenOnce) {
  TestGenerator generator(generatorOf(kCases[0]));
  const Text text{{1, 2, 3}, 1};
  int64_t scored = addTo(generator, text), cancelled = addTo(generator, text);
  int64_t other = generator.add({1}, requestOf(1));
  tsr_token_score scores[3];
  int32_t ended = -1;
  auto takeFrom = [&](int64_t id, size_t count) {
    return tsr_generator_take_scores(generator.get(), id, scores, count,
                                     &ended);
  };
  EXPECT_EQ(takeFrom(scored, 2), TSR_OK);
  EXPECT_EQ(ended, TSR_GOES_ON);
  EXPECT_EQ(tsr_generator_cancel(generator.get(), cancelled), TSR_OK);
  generator.run();
  EXPECT_EQ(takeFrom(scored, 3), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(takeFrom(scored, 2), TSR_OK);
  EXPECT_EQ(ended, TSR_ENDED_SCORED);
  EXPECT_EQ(takeFrom(scored, 2), TSR_NOT_FOUND);
  EXPECT_EQ(takeFrom(other, 1), TSR_NOT_FOUND);
  EXPECT_EQ(takeFrom(cancelled, 2), TSR_OK);
  EXPECT_EQ(ended, TSR_ENDED_CANCELLED);
}

TEST(ScoringTest, LabelsOfPlacedRowsAreOfTheVocabulary) {
  TestGenerator generator(generatorOf(kCases[0]));
  auto statusOf = [&](const std::vector<tsr_row> &rows, const Tokens &labels) {
    std::vector<tsr_token_score> scores(rows.size());
    return tsr_generator_score_rows(generator.get(), rows.data(), labels.data(),
                                    rows.size(), scores.data());
  };
  const std::vector<tsr_row> rows = {{7, 0, 2, 0, 5, 0}, {-1, 0, -1, 0, 0, 0}};
  EXPECT_EQ(statusOf(rows, {kVocabulary, -1}), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(tsr_last_error()),
            "label 61 is outside of the vocabulary of 61");
  EXPECT_EQ(statusOf(rows, {1, 1}), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(statusOf(rows, {kVocabulary - 1, -100}), TSR_OK)
      << tsr_last_error();
}

/// The artifact without what it says of the program, as older ones are.
std::string olderArtifact(const std::string &path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  llvm::StringRef bytes = (*file)->getBuffer();
  tsr_abi_header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  auto metadata = llvm::json::parse(
      bytes.substr(header.header_bytes, header.metadata_bytes));
  llvm::json::Object &all = *metadata->getAsObject();
  llvm::json::Array kept;
  for (llvm::json::Value &tensor : *all.getArray("tensors"))
    if (!tensor.getAsObject()->getString("name")->starts_with("score_"))
      kept.push_back(std::move(tensor));
  all["tensors"] = std::move(kept);
  all.erase("score");
  std::string text;
  llvm::raw_string_ostream(text) << *metadata;
  mlir::MLIRContext context;
  std::string older = scratchPath("older.tsr");
  llvm::StringRef code = bytes.take_back(header.code_bytes);
  EXPECT_TRUE(succeeded(
      tessera::writeArtifact(older, text, {code.data(), code.size()}, [&] {
        return emitError(mlir::UnknownLoc::get(&context));
      })));
  return older;
}

TEST(ScoringTest, OlderArtifactsSayWhatToCompile) {
  TestGenerator generator(olderArtifact(generatorOf(kCases[0])));
  const int64_t continued = generator.add({1}, requestOf(2));
  generator.run();
  EXPECT_EQ(generator.result(continued).tokens.size(), 3u);
  const Tokens tokens = {1, 2};
  int64_t id = -1;
  EXPECT_EQ(
      tsr_generator_score(generator.get(), tokens.data(), 2, 1, nullptr, &id),
      TSR_UNSUPPORTED);
  EXPECT_EQ(std::string(tsr_last_error()),
            "the artifact is of an older version, whose programs that generate "
            "do not score given tokens; compile the model again with "
            "--programs generate, or train,generate");
}

} // namespace
