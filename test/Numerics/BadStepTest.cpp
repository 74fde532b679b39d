//===- BadStepTest.cpp - steps that are not applied -----------------------===//
// A step whose gradient is not finite changes no bit of the state on any mesh,
// and the run goes on as if the step had not been.
//===----------------------------------------------------------------------===//

#include "test/Numerics/Model.h"
#include "test/Numerics/Trainer.h"
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace tessera::test;

namespace {

/// A way to compile a program; the name is the test's.
struct Case {
  const char *name;
  Strategy strategy;
  const char *precision = "f32";
  int64_t microBatches = 1;
  double clip = 1;
};

class BadStepTest : public ::testing::TestWithParam<Case> {
protected:
  static std::string compile() {
    Build build(GetParam().strategy);
    build.precision = GetParam().precision;
    build.microBatches = GetParam().microBatches;
    build.clip = GetParam().clip;
    return compileModel(
        scratchFile("config.json",
                    R"({"model_type": "gpt2", "n_layer": 2, "n_head": 4,
                        "n_embd": 32, "n_positions": 16, "vocab_size": 61,
                        "resid_pdrop": 0, "embd_pdrop": 0, "attn_pdrop": 0})"),
        build);
  }

  static std::vector<TensorName> stateOf(const Trainer &trainer) {
    std::vector<TensorName> all;
    for (const char *role : {"parameter", "moment1", "moment2"})
      for (const TensorName &tensor : trainer.tensors(role))
        all.push_back(tensor);
    return all;
  }

  static std::vector<Values> read(Trainer &trainer) {
    std::vector<Values> values;
    for (const TensorName &tensor : stateOf(trainer))
      values.push_back(trainer.read(tensor));
    return values;
  }

  /// Runs a step with a broken parameter, which is repaired afterwards: that of
  /// a position that every sequence has.
  static void badStep(Trainer &trainer, uint32_t tokens, double broken) {
    TensorName bias = {"parameter", "transformer.h.1.mlp.c_proj.bias", 32};
    Values whole = trainer.read(bias), bad = whole;
    bad[31] = broken;
    trainer.write(bias, bad);
    std::vector<Values> before = read(trainer);
    tsr_step_result result = trainer.step(trainer.learnableTokens(tokens));
    EXPECT_FALSE(std::isfinite(result.loss) && std::isfinite(result.grad_norm));
    EXPECT_EQ(bits(read(trainer)), bits(before));
    trainer.write(bias, whole);
  }

  /// NaN equals itself.
  static std::vector<uint64_t> bits(const std::vector<Values> &tensors) {
    std::vector<uint64_t> all;
    for (const Values &values : tensors)
      for (double value : values)
        all.push_back(__builtin_bit_cast(uint64_t, value));
    return all;
  }
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST_P(BadStepTest, LeavesNoTrace) {
  std::string artifact = compile();
  Trainer bad(artifact), good(artifact);
  for (Trainer *trainer : {&bad, &good}) {
    trainer->setSchedule(1e-2, 1e-2, 10);
    trainer->step(trainer->learnableTokens(0));
  }
  EXPECT_EQ(tsr_session_skipped_steps(bad.get()), 0);
  badStep(bad, 7, NAN);
  badStep(bad, 8, kInfinity);
  EXPECT_EQ(tsr_session_skipped_steps(bad.get()), 2);
  EXPECT_EQ(tsr_session_next_step(bad.get()), 3);
  for (uint32_t tokens : {1, 2}) {
    tsr_step_result found = bad.step(bad.learnableTokens(tokens));
    tsr_step_result wanted = good.step(good.learnableTokens(tokens));
    EXPECT_EQ(found.loss, wanted.loss);
    EXPECT_EQ(found.step, wanted.step + 2);
  }
  EXPECT_EQ(read(bad), read(good));
  EXPECT_EQ(tsr_session_skipped_steps(bad.get()), 2);
}

/// The bias corrections go by the steps that were applied.
TEST_P(BadStepTest, IsKnownToAResumedRun) {
  std::string artifact = compile(), directory = scratchPath("checkpoint");
  Trainer whole(artifact), resumed(artifact);
  for (Trainer *trainer : {&whole, &resumed})
    trainer->setSchedule(1e-2, 1e-3, 10);
  whole.step(whole.learnableTokens(0));
  badStep(whole, 1, NAN);
  whole.save(directory);
  resumed.load(directory);
  EXPECT_EQ(tsr_session_skipped_steps(resumed.get()), 1);
  for (Trainer *trainer : {&whole, &resumed})
    trainer->step(trainer->learnableTokens(2));
  EXPECT_EQ(read(resumed), read(whole));
}

INSTANTIATE_TEST_SUITE_P(
    Programs, BadStepTest,
    ::testing::Values(
        Case{"serial", {}}, Case{"unclipped", {"tp=2"}, "f64", 1, 0},
        Case{"bf16", {"dp=2", false, 1}, "bf16"},
        Case{"zero3", {"dp=2,tp=2", true, 3}, "f32", 2},
        Case{"stages", {"pp=2,dp=2", false, 1}, "f32", 2},
        Case{"owners",
             {"dp=2,tp=2", false, 0, "all-gather", "parameter-server"}}),
    [](const auto &info) { return std::string(info.param.name); });

} // namespace
