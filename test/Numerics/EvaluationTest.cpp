//===- EvaluationTest.cpp - the program that only measures ----------------===//
// The same loss and the same predictions on every mesh, no trace in what is
// trained, and the numbers that a model with known logits must have.
//===----------------------------------------------------------------------===//

#include "test/Models.h"
#include "test/Numerics/Model.h"
#include "test/Numerics/Trainer.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

using namespace tessera::test;

namespace {

/// Sequences are of a length that 2 and 4 do not divide.
Build evaluated(const TestModel &model, const Strategy &strategy = {}) {
  Build build(strategy);
  build.evaluation = true;
  build.sequence = model.positions - 1 + model.positions % 2;
  build.batch = 12;
  return build;
}

std::string compiled(const TestModel &model, const Build &build) {
  return compileModel(model.path(), build);
}

/// Returns a model of test/models whose properties a test needs.
const TestModel &modelNamed(const char *name) {
  return *llvm::find_if(
      testModels(), [&](const TestModel &model) { return model.name == name; });
}

const Strategy kMeshes[] = {
    {"dp=2"},
    {"tp=2"},
    {"dp=2,tp=2", true},
    {"dp=2", false, 1},
    {"dp=2,tp=2", true, 3},
    {"cp=2,tp=2"},
    {"pp=2"},
    {"pp=2,dp=2", false, 3},
    {"dp=2,tp=2", false, 0, "all-gather", "parameter-server"}};

class EvaluationTest : public ::testing::TestWithParam<TestModel> {
protected:
  const TestModel &model() const { return GetParam(); }
  /// Returns meshes to compare a model on: every second one for GPT-2, one for
  /// each other model, by its number.
  std::vector<Strategy> meshes(size_t first) const {
    if (model().name != "gpt2") {
      for (const TestModel &other : testModels())
        first += other.name < model().name;
      return {kMeshes[first % std::size(kMeshes)]};
    }
    std::vector<Strategy> chosen;
    for (size_t k = first; k < std::size(kMeshes); k += 2)
      chosen.push_back(kMeshes[k]);
    return chosen;
  }
};

/// Evaluates a model on the tokens that it was trained on: the initial one
/// predicts hardly anything, and a masked one learns slowly from others.
tsr_evaluation evaluateTrained(const std::string &artifact) {
  Trainer trainer(artifact);
  trainer.setSchedule(1e-2, 1e-2, 100);
  for (uint32_t step = 0; step < 12; ++step)
    trainer.step(trainer.learnableTokens(100));
  return trainer.evaluate(trainer.learnableTokens(100), /*number=*/2);
}

/// Micro-batches change how the balance of experts is trained, so the serial
/// program has as many.
TEST_P(EvaluationTest, IsTheSameOnEveryMesh) {
  for (int64_t parts : {1, 3}) {
    Build build = evaluated(model());
    build.microBatches = parts;
    tsr_evaluation wanted = evaluateTrained(compiled(model(), build));
    EXPECT_GT(wanted.correct, 0);
    EXPECT_LT(wanted.correct, wanted.labels);
    for (const Strategy &mesh : meshes(parts / 2)) {
      Build build = evaluated(model(), mesh);
      build.microBatches = parts;
      tsr_evaluation found = evaluateTrained(compiled(model(), build));
      EXPECT_NEAR(found.loss, wanted.loss, 1e-9 * wanted.loss) << build.mesh;
      EXPECT_EQ(found.correct, wanted.correct) << build.mesh;
      EXPECT_EQ(found.labels, wanted.labels) << build.mesh;
    }
  }
}

/// Evaluates all sequences, `batchTokens` tokens at a time.
tsr_evaluation evaluateAll(Trainer &trainer, const Tokens &data,
                           size_t batchTokens) {
  tsr_evaluation all = {0, 0, 0};
  for (size_t first = 0, number = 0; first < data.size();
       first += batchTokens, ++number) {
    size_t end = std::min(data.size(), first + batchTokens);
    tsr_evaluation part = trainer.evaluate(
        Tokens(data.begin() + first, data.begin() + end), number);
    all.loss += part.loss * static_cast<double>(part.labels);
    all.labels += part.labels;
    all.correct += part.correct;
  }
  all.loss /= static_cast<double>(all.labels);
  return all;
}

/// The last batch of 13 sequences is not whole, and lacks whole micro-batches
/// and shards. A masked model predicts the same tokens of a sequence.
TEST_P(EvaluationTest, IsTheDataSetsWithEveryBatch) {
  struct Way {
    int64_t batch;
    Strategy strategy;
    int64_t microBatches;
  };
  const Way others[] = {{5, {}, 1}, {16, {"dp=2"}, 4}, {8, {"pp=2,tp=2"}, 2}};
  Build build = evaluated(model());
  build.batch = 1;
  Trainer serial(compiled(model(), build));
  Tokens data;
  for (uint32_t k = 0; k < 13; ++k)
    for (int32_t token : serial.learnableTokens(k))
      data.push_back(token);
  const size_t columns = data.size() / 13;
  tsr_evaluation wanted = evaluateAll(serial, data, columns);
  for (const Way &way : others) {
    Build build = evaluated(model(), way.strategy);
    build.batch = way.batch;
    build.microBatches = way.microBatches;
    Trainer trainer(compiled(model(), build));
    tsr_evaluation found = evaluateAll(trainer, data, way.batch * columns);
    EXPECT_NEAR(found.loss, wanted.loss, 1e-12 * wanted.loss) << way.batch;
    EXPECT_EQ(found.correct, wanted.correct) << way.batch;
    EXPECT_EQ(found.labels, wanted.labels) << way.batch;
  }
}

/// Also with NaN in all memory that nobody has written.
TEST_P(EvaluationTest, LeavesNoTrace) {
  for (Strategy strategy :
       {Strategy{"dp=2,tp=2", true, 3}, Strategy{"pp=2,dp=2"}}) {
    Build build = evaluated(model(), strategy);
    build.microBatches = 3;
    build.precision = "f32";
    std::string artifact = compiled(model(), build);
    SessionSettings settings;
    settings.poison = true;
    Trainer plain(artifact), other(artifact, settings);
    for (uint32_t step = 0; step < 3; ++step) {
      tsr_evaluation first = other.evaluate(other.randomTokens(step + 50));
      tsr_evaluation again = other.evaluate(other.randomTokens(step + 50));
      EXPECT_EQ(first.loss, again.loss);
      EXPECT_TRUE(std::isfinite(first.loss)) << strategy.mesh;
      EXPECT_EQ(other.step(other.randomTokens(step)).loss,
                plain.step(plain.randomTokens(step)).loss);
    }
    for (const char *role : {"parameter", "moment1", "moment2"})
      for (const TensorName &tensor : plain.tensors(role))
        EXPECT_EQ(other.read(tensor), plain.read(tensor)) << tensor.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, EvaluationTest,
                         ::testing::ValuesIn(testModels()), NameOfModel());

/// A GPT-2 without layers that matter: position and projections are 0, so that
/// the logits of a token are products of its normalized embedding.
class KnownLogits {
public:
  KnownLogits(const Build &build, int64_t vocabulary, double scale)
      : trainer(compileModel(
            scratchFile("config.json",
                        R"({"model_type": "gpt2", "n_layer": 1, "n_head": 4,
                            "n_embd": 32, "n_positions": 16, "vocab_size": )" +
                            std::to_string(vocabulary) + "}"),
            build)) {
    for (const TensorName &tensor : trainer.tensors("parameter")) {
      Values values(tensor.elements, 0.0);
      if (llvm::StringRef(tensor.name).ends_with("ln_f.weight"))
        values.assign(tensor.elements, 1.0);
      if (llvm::StringRef(tensor.name).ends_with("wte.weight"))
        for (int64_t v = 0; v < vocabulary; ++v)
          values[v * 32 + v] = scale;
      trainer.write(tensor, values);
    }
  }

  Trainer trainer;
};

Build ignoring(const Strategy &strategy) {
  Build build(strategy);
  build.evaluation = build.ignoresLabels = true;
  build.batch = 4;
  build.microBatches = 2;
  return build;
}

/// A token's largest logit is its own: labels that repeat the token are
/// predicted, others are not, and ignored ones do not count, even if a step
/// counts all.
TEST(KnownLogitsTest, PredictionsAreCounted) {
  for (const char *mesh : {"", "tp=4", "dp=2", "cp=2", "pp=2"}) {
    Build build = ignoring(Strategy{mesh});
    build.ignoresLabels = build.mesh != "dp=2" && build.mesh != "pp=2";
    KnownLogits known(build, 29, 1.0);
    Tokens ids(64), labels(64);
    int64_t counted = 0, correct = 0;
    for (int32_t i = 0; i < 64; ++i) {
      ids[i] = i * 5 % 29;
      labels[i] = i % 3 == 0 ? ids[i] : i % 7 == 1 ? -100 : (ids[i] + 1) % 29;
      counted += labels[i] >= 0;
      correct += labels[i] == ids[i];
    }
    tsr_evaluation found = known.trainer.evaluate(ids, labels);
    EXPECT_EQ(found.labels, counted) << mesh;
    EXPECT_EQ(found.correct, correct) << mesh;
  }
}

/// All logits are 0: argmax names token 0, and the loss is that of guessing.
TEST(KnownLogitsTest, OfEqualLogitsTheFirstIsThePrediction) {
  for (const char *mesh : {"", "tp=4"}) {
    KnownLogits known(ignoring(Strategy{mesh}), 29, 0.0);
    Tokens ids(64, 3), labels(64);
    for (int32_t i = 0; i < 64; ++i)
      labels[i] = i % 4;
    tsr_evaluation found = known.trainer.evaluate(ids, labels);
    EXPECT_EQ(found.correct, 16) << mesh;
    EXPECT_NEAR(found.loss, std::log(29.0), 1e-12);
  }
}

/// Without dropout and other parts of the loss a step measures the same, but
/// for the rounding of a division: the evaluation counts the labels.
TEST(StepLossTest, IsTheEvaluationsBefore) {
  const TestModel &llama = modelNamed("llama");
  for (Strategy strategy : {Strategy{}, Strategy{"dp=2,tp=2"}}) {
    Build build = evaluated(llama, strategy);
    Trainer trainer(compiled(llama, build));
    for (uint32_t step = 0; step < 3; ++step) {
      Tokens tokens = trainer.learnableTokens(step);
      double loss = trainer.evaluate(tokens).loss;
      EXPECT_NEAR(trainer.step(tokens).loss, loss, 1e-15 * loss)
          << strategy.mesh;
    }
  }
}

/// To the bit, where sums are asked for in a fixed order.
TEST(InvariantEvaluationTest, HasTheSameBitsOnEveryMesh) {
  Values losses;
  for (const char *mesh : {"", "dp=2", "tp=2", "dp=2,tp=2"}) {
    Build build = evaluated(modelNamed("gpt2"), Strategy{mesh});
    build.layoutInvariant = 8;
    build.precision = "f32";
    build.sequence = 16;
    build.batch = 8;
    std::string artifact = compileModel(
        scratchFile("config.json",
                    R"({"model_type": "gpt2", "n_layer": 2, "n_head": 4,
                        "n_embd": 32, "n_positions": 16, "vocab_size": 64})"),
        build);
    losses.push_back(evaluateTrained(artifact).loss);
    EXPECT_EQ(losses.back(), losses.front()) << mesh;
  }
}

/// A count of tokens that is no number of sequences, none or too many is
/// refused.
TEST(IncompleteBatchTest, IsOfWholeSequences) {
  const TestModel &gpt2 = modelNamed("gpt2");
  Trainer trainer(compiled(gpt2, evaluated(gpt2)));
  const Tokens tokens = trainer.randomTokens(0);
  tsr_evaluation result;
  for (size_t count : {size_t(0), size_t(15), size_t(17), tokens.size() + 16})
    EXPECT_EQ(tsr_session_evaluate(trainer.get(), Tokens(count + 1, 0).data(),
                                   count, 0, &result),
              TSR_INVALID_ARGUMENT)
        << count;
}

/// A target of padding alone has no label.
TEST(IncompleteBatchTest, WithoutLabelsNothingIsMeasured) {
  const TestModel &t5 = modelNamed("t5");
  Build build = evaluated(t5);
  build.batch = 1;
  Trainer trainer(compiled(t5, build));
  Tokens tokens = trainer.randomTokens(0);
  EXPECT_GT(trainer.evaluate(tokens).labels, 0);
  std::fill(tokens.begin() + build.sequence, tokens.end(), 0);
  tsr_evaluation found = trainer.evaluate(tokens);
  EXPECT_EQ(found.labels, 0);
  EXPECT_EQ(found.correct, 0);
  EXPECT_EQ(found.loss, 0);
}

tsr_status scoreOf(Trainer &trainer, const Tokens &tokens, size_t given,
                   tsr_score &score) {
  return tsr_session_score(trainer.get(), tokens.data(), tokens.size(), given,
                           &score);
}

/// Probabilities of parts multiply; the whole is what an evaluation says.
TEST(ScoreTest, ScoresOfPartsAddUp) {
  const TestModel &llama = modelNamed("llama");
  for (const char *mesh : {"", "dp=2,tp=2", "pp=2,cp=2"}) {
    Build build = evaluated(llama, Strategy{mesh});
    build.ignoresLabels = true;
    build.precision = "f64";
    Trainer trainer(compiled(llama, build));
    const Tokens tokens = {3, 14, 15, 36, 26, 5, 35};
    tsr_score all, part, rest;
    ASSERT_EQ(scoreOf(trainer, tokens, 1, all), TSR_OK) << tsr_last_error();
    ASSERT_EQ(scoreOf(trainer, tokens, 4, rest), TSR_OK) << tsr_last_error();
    ASSERT_EQ(scoreOf(trainer, {3, 14, 15, 36}, 1, part), TSR_OK);
    EXPECT_LT(all.log_probability, 6 * -1.0) << mesh;
    EXPECT_NEAR(all.log_probability,
                part.log_probability + rest.log_probability, 1e-11)
        << mesh;
    EXPECT_EQ(all.predicted, part.predicted + rest.predicted) << mesh;
  }
}

TEST(ScoreTest, WhatCannotBeScoredIsRefused) {
  const TestModel &gpt2 = modelNamed("gpt2");
  bool ignoresLabels = true;
  auto expectRefused = [&](const TestModel &model, const Tokens &tokens,
                           size_t given, const char *part) {
    Build build = evaluated(model);
    build.ignoresLabels = ignoresLabels;
    Trainer trainer(compiled(model, build));
    tsr_score score;
    EXPECT_NE(scoreOf(trainer, tokens, given, score), TSR_OK);
    EXPECT_NE(std::string(tsr_last_error()).find(part), std::string::npos)
        << tsr_last_error();
  };
  expectRefused(gpt2, {1, 2}, 0, "0 of the 2 tokens are given");
  expectRefused(gpt2, {1, 2}, 2, "2 of the 2 tokens are given");
  expectRefused(gpt2, Tokens(17, 1), 1, "17 tokens, of at most 16");
  expectRefused(gpt2, {1, 61}, 1, "61");
  ignoresLabels = false;
  expectRefused(gpt2, {1, 2}, 1, "compile the model with --ignore-labels");
  expectRefused(modelNamed("bert"), {1, 2}, 1, "causal models");
}

TEST(NoEvaluationTest, IsAClearError) {
  const TestModel &gpt2 = modelNamed("gpt2");
  Build build = evaluated(gpt2);
  build.evaluation = false;
  Trainer trainer(compiled(gpt2, build));
  Tokens tokens = trainer.randomTokens(0);
  tsr_evaluation result;
  EXPECT_EQ(tsr_session_evaluate(trainer.get(), tokens.data(), tokens.size(), 0,
                                 &result),
            TSR_UNSUPPORTED);
  EXPECT_NE(std::string(tsr_last_error()).find("--no-evaluation"),
            std::string::npos);
  trainer.step(tokens);
}

} // namespace
