//===- BatchTest.cpp - inputs and labels of one's own ---------------------===//
// tsr_session_step_batch refuses what it should, and it is tsr_session_step
// where both say the same.
//===----------------------------------------------------------------------===//

#include "test/Numerics/Model.h"
#include "test/Numerics/Reference.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace tessera::test;

namespace {

constexpr size_t kBatch = 8, kSequence = 8, kTokens = kBatch * kSequence;

class BatchTest : public ::testing::Test {
protected:
  static std::string compile(const char *family, Build build = Build()) {
    if (build.mesh.empty())
      build.mesh = "dp=2";
    build.sequence = kSequence;
    return compileModel(referenceConfig(family), build);
  }
  /// Returns the message of a refused step.
  static std::string refusal(const char *family, const tsr_batch &batch,
                             const Build &build = Build()) {
    Trainer trainer(compile(family, build));
    tsr_step_result result;
    tsr_status status = tsr_session_step_batch(trainer.get(), &batch, &result);
    EXPECT_EQ(status, TSR_INVALID_ARGUMENT);
    return tsr_last_error();
  }

  Tokens ids = Tokens(kTokens, 1), labels = Tokens(kTokens, 2),
         types = Tokens(kTokens, 0);
  tsr_batch batch = {sizeof(tsr_batch), ids.data(), labels.data(),
                     nullptr,           nullptr,    nullptr};
};

TEST_F(BatchTest, CausalStepOnItsOwnTokens) {
  Trainer one(compile("llama")), other(compile("llama"));
  Tokens tokens = one.randomTokens(1);
  for (size_t k = 0; k < kTokens; ++k) {
    ids[k] = tokens[k / kSequence * (kSequence + 1) + k % kSequence];
    labels[k] = tokens[k / kSequence * (kSequence + 1) + k % kSequence + 1];
  }
  tsr_step_result result;
  ASSERT_EQ(tsr_session_step_batch(other.get(), &batch, &result), TSR_OK);
  EXPECT_EQ(one.step(tokens).loss, result.loss);
}

/// A masked model hides other tokens in every step.
TEST_F(BatchTest, MaskedStepDependsOnTheStep) {
  Trainer trainer(compile("bert"));
  trainer.setSchedule(0, 0, 2);
  Tokens tokens = trainer.randomTokens(1);
  double first = trainer.step(tokens).loss;
  EXPECT_GT(first, 0);
  EXPECT_NE(first, trainer.step(tokens).loss);
}

TEST_F(BatchTest, IgnoredLabels) {
  labels.assign(kTokens, -100);
  EXPECT_EQ(refusal("bert", batch),
            "no label of the batch counts, so there is no loss: all are "
            "negative, which is ignored; leave the batch out, or give at least "
            "one label that is a token");
  EXPECT_EQ(refusal("llama", batch),
            "label -100 at position 0 of sequence 0 is negative, but the model "
            "counts all labels; compile it with --ignore-labels");
}

Build ignoring(const char *mesh, int64_t microBatches = 1) {
  Build build;
  build.mesh = mesh;
  build.microBatches = microBatches;
  build.ignoresLabels = true;
  return build;
}

TEST_F(BatchTest, CausalModelNeedsALabelThatCounts) {
  labels.assign(kTokens, -100);
  for (const char *family : {"llama", "mixtral"})
    EXPECT_EQ(refusal(family, batch, ignoring("dp=2", 2)),
              "no label of the batch counts, so there is no loss: all are "
              "negative, which is ignored; leave the batch out, or give at "
              "least one label that is a token");
  labels[5] = 37;
  EXPECT_EQ(refusal("llama", batch, ignoring("dp=2")),
            "label 37 at position 5 of sequence 0 is outside of the vocabulary "
            "of 37");
}

/// The last label of all: other ranks and micro-batches have none.
TEST_F(BatchTest, OneLabelThatCountsIsEnough) {
  labels.assign(kTokens, -100);
  labels.back() = 3;
  double wanted = 0;
  for (const char *mesh : {"tp=1", "dp=4", "cp=2,tp=2", "pp=2"}) {
    Trainer trainer(compile("llama", ignoring(mesh, 2)));
    tsr_step_result result;
    ASSERT_EQ(tsr_session_step_batch(trainer.get(), &batch, &result), TSR_OK);
    wanted = wanted ? wanted : result.loss;
    EXPECT_GT(result.loss, 0);
    EXPECT_NEAR(result.loss / wanted, 1, 1e-13) << mesh;
  }
}

/// 64 labels: their share is a power of two, so no product rounds.
TEST_F(BatchTest, WhereAllLabelsCountTheLossIsThatOfThePlainModel) {
  for (const char *precision : {"f64", "f32"}) {
    Build plain, ignores = ignoring("dp=2");
    plain.precision = ignores.precision = precision;
    Trainer one(compile("llama", plain)), other(compile("llama", ignores));
    Tokens tokens = one.randomTokens(1);
    for (int step = 0; step < 2; ++step) {
      tsr_step_result wanted = one.step(tokens), found = other.step(tokens);
      EXPECT_EQ(found.loss, wanted.loss);
      EXPECT_EQ(found.grad_norm, wanted.grad_norm);
    }
  }
}

/// Rows of a source and its target, whose padding (0) is no label.
TEST_F(BatchTest, EncoderDecoderStepOnItsOwnTokens) {
  Trainer one(compile("t5")), other(compile("t5"));
  Tokens tokens = one.randomTokens(1);
  ASSERT_EQ(tokens.size(), 2 * kTokens);
  tokens[kSequence + 3] = 0;
  for (size_t k = 0; k < kTokens; ++k) {
    size_t at = k / kSequence * 2 * kSequence + k % kSequence;
    ids[k] = tokens[at];
    labels[k] = tokens[at + kSequence] ? tokens[at + kSequence] : -100;
  }
  tsr_step_result result;
  ASSERT_EQ(tsr_session_step_batch(other.get(), &batch, &result), TSR_OK);
  EXPECT_EQ(one.step(tokens).loss, result.loss);
}

/// Data may have such a batch anywhere: the step is skipped without a trace.
TEST_F(BatchTest, ABatchWithoutLabelsIsSkipped) {
  for (const char *mesh : {"dp=2", "tp=2"}) {
    Build build;
    build.mesh = mesh;
    std::string path = compile("t5", build);
    Trainer one(path), other(path);
    one.setSchedule(1e-2, 1e-2, 10);
    other.setSchedule(1e-2, 1e-2, 10);
    EXPECT_EQ(tsr_session_had_labels(one.get()), 1);
    tsr_step_result result = one.step(Tokens(2 * kTokens, 0));
    EXPECT_TRUE(std::isnan(result.loss));
    EXPECT_EQ(result.step, 0);
    EXPECT_EQ(tsr_session_had_labels(one.get()), 0);
    EXPECT_EQ(tsr_session_skipped_steps(one.get()), 1);
    for (uint32_t number : {1, 2}) {
      Tokens tokens = one.randomTokens(number);
      double loss = one.step(tokens).loss;
      EXPECT_TRUE(std::isfinite(loss));
      EXPECT_EQ(loss, other.step(tokens).loss);
    }
    EXPECT_EQ(tsr_session_had_labels(one.get()), 1);
    EXPECT_EQ(tsr_session_skipped_steps(one.get()), 1);
  }
}

TEST_F(BatchTest, AnEvaluationMayHaveNoLabels) {
  Build build;
  build.evaluation = true;
  Trainer trainer(compile("t5", build));
  Tokens tokens(2 * kTokens, 0);
  tsr_evaluation found;
  ASSERT_EQ(tsr_session_evaluate(trainer.get(), tokens.data(), tokens.size(), 0,
                                 &found),
            TSR_OK)
      << tsr_last_error();
  EXPECT_EQ(found.labels, 0);
  EXPECT_EQ(found.correct, 0);
}

TEST_F(BatchTest, OutOfRange) {
  ids[kSequence + 3] = 37;
  EXPECT_EQ(refusal("bert", batch),
            "token 37 at position 3 of sequence 1 is not in [0, 37)");
  ids[kSequence + 3] = 1;
  labels[2] = 40;
  EXPECT_EQ(refusal("bert", batch), "label 40 at position 2 of sequence 0 is "
                                    "outside of the vocabulary of 37");
}

TEST_F(BatchTest, TokenTypes) {
  types[1] = 2;
  batch.token_types = types.data();
  EXPECT_EQ(refusal("bert", batch),
            "token type 2 at position 1 of sequence 0 is not in [0, 2)");
  EXPECT_EQ(refusal("llama", batch),
            "the model has no token types; leave token_types NULL");
}

} // namespace
