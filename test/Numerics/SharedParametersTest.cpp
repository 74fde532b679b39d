//===- SharedParametersTest.cpp - training and generation, one artifact ---===//
// A session generates what its exported weights generate, to the bit, and
// neither program changes what the other one computes.
//===----------------------------------------------------------------------===//

#include "test/Numerics/Model.h"
#include "test/Numerics/TestGenerator.h"
#include <gtest/gtest.h>

using namespace tessera::test;

namespace {

constexpr const char *kPair = R"({"model_type": "t5", "num_layers": 1,
    "num_decoder_layers": 2, "d_model": 32, "d_kv": 8, "d_ff": 44,
    "num_heads": 4, "vocab_size": 61, "feed_forward_proj": "relu",
    "tie_word_embeddings": true, "relative_attention_num_buckets": 8,
    "dropout_rate": 0.1, "relative_attention_max_distance": 9,
    "decoder_start_token_id": 2, "pad_token_id": 60,
    "initializer_factor": 2})";

struct Case {
  const char *name, *config, *mesh, *precision;
  bool sequenceParallel = false;
  int64_t zero = 0;

  /// Sources have any length, so that padding is hidden.
  bool hasSources() const { return config == kPair; }
};
const Case kCases[] = {
    {"gpt2", R"({"model_type": "gpt2", "n_layer": 2, "n_head": 4, "n_embd": 32,
        "n_positions": 16, "vocab_size": 61, "initializer_range": 0.3,
        "resid_pdrop": 0.1, "embd_pdrop": 0.1, "attn_pdrop": 0.1})",
     "dp=2,tp=2", "f32", true},
    {"mixtral", R"({"model_type": "mixtral", "num_hidden_layers": 1,
        "hidden_size": 32, "intermediate_size": 44, "num_attention_heads": 4,
        "num_key_value_heads": 2, "max_position_embeddings": 16,
        "vocab_size": 61, "rms_norm_eps": 1e-5, "hidden_act": "silu",
        "num_local_experts": 4, "num_experts_per_tok": 2,
        "initializer_range": 0.3})",
     "ep=2", "f64"},
    {"zero", R"({"model_type": "llama", "num_hidden_layers": 1,
        "hidden_size": 32, "intermediate_size": 44, "num_attention_heads": 4,
        "num_key_value_heads": 2, "max_position_embeddings": 16,
        "vocab_size": 61, "rms_norm_eps": 1e-5, "hidden_act": "silu",
        "initializer_range": 0.3})",
     "dp=2", "f32", false, 3},
    {"stages", R"({"model_type": "gpt2", "n_layer": 2, "n_head": 2,
        "n_embd": 16, "n_positions": 16, "vocab_size": 61,
        "initializer_range": 0.3, "resid_pdrop": 0, "embd_pdrop": 0,
        "attn_pdrop": 0})",
     "pp=2", "f32"},
    {"pair", kPair, "dp=2,tp=2", "f32", true},
    {"pair_stages", kPair, "pp=2", "f32"}};

std::string artifactOf(const Case &given, const char *programs) {
  Build build{Strategy{given.mesh}};
  build.precision = given.precision;
  build.batch = 8;
  build.microBatches = 2;
  build.sequence = 16;
  build.evaluation = true;
  build.flags = {{"programs", programs}};
  build.sequenceParallel = given.sequenceParallel;
  build.zero = given.zero;
  build.paddingMask = given.hasSources();
  if (std::string(programs) == "generate") {
    build.batch = 2;
    build.microBatches = 1;
    build.evaluation = build.sequenceParallel = false;
    build.zero = 0;
  }
  build.prefillChunk = 5;
  return compileModel(scratchFile("config.json", given.config), build);
}

SessionSettings poisoned() {
  SessionSettings settings;
  settings.poison = true;
  settings.threads = 2;
  return settings;
}

void expectSame(const std::vector<Continued> &found,
                const std::vector<Continued> &wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t k = 0; k < found.size(); ++k) {
    EXPECT_EQ(found[k].ended, TSR_ENDED_LENGTH) << k;
    EXPECT_EQ(found[k].tokens, wanted[k].tokens) << k;
    EXPECT_EQ(found[k].logProbabilities, wanted[k].logProbabilities) << k;
  }
}

std::string lastError(tsr_status status) {
  return status == TSR_OK ? "" : tsr_last_error();
}

class SharedParametersTest : public testing::TestWithParam<Case> {};

TEST_P(SharedParametersTest, ATrainedSessionWritesAsItsExportedWeightsDo) {
  Trainer trainer(artifactOf(GetParam(), "train,generate"), poisoned());
  Trainer alone(artifactOf(GetParam(), "train"), poisoned());
  TestGenerator generator(trainer);
  std::vector<Continued> before = continueTexts(generator);
  for (uint32_t step = 0; step < 3; ++step) {
    const Tokens tokens = trainer.learnableTokens(step);
    const tsr_step_result found = trainer.step(tokens),
                          wanted = alone.step(tokens);
    EXPECT_EQ(found.loss, wanted.loss) << step;
    EXPECT_EQ(found.grad_norm, wanted.grad_norm) << step;
    EXPECT_EQ(found.step, wanted.step) << step;
    if (step == 0)
      continueTexts(generator);
    EXPECT_EQ(trainer.evaluate(tokens).loss, alone.evaluate(tokens).loss);
  }
  for (const TensorName &tensor : alone.tensors("parameter"))
    EXPECT_EQ(trainer.read(tensor), alone.read(tensor)) << tensor.name;
  std::vector<Continued> found = continueTexts(generator);
  EXPECT_NE(found[4].logProbabilities, before[4].logProbabilities);
  const std::string folder = scratchPath("run");
  trainer.save(folder);
  for (const char *programs : {"generate", "train,generate"}) {
    TestGenerator exported(artifactOf(GetParam(), programs),
                           folder + "/step-00000003");
    expectSame(found, continueTexts(exported));
  }
}

INSTANTIATE_TEST_SUITE_P(Models, SharedParametersTest,
                         testing::ValuesIn(kCases),
                         [](const auto &info) { return info.param.name; });

/// Keys and values are of the parameters that made them.
TEST(SharedParametersTest, ParametersStayWhileRequestsRun) {
  Trainer trainer(artifactOf(kCases[0], "train,generate"), poisoned());
  const Tokens tokens = trainer.learnableTokens(1);
  tsr_generator *second = nullptr;
  {
    TestGenerator generator(trainer);
    EXPECT_NE(lastError(tsr_generator_create_on(trainer.get(), &second))
                  .find("the session has a generator already"),
              std::string::npos);
    int64_t id = generator.add({1, 2, 3}, requestOf(4));
    generator.step();
    EXPECT_NE(lastError(tsr_session_step(trainer.get(), tokens.data(),
                                         tokens.size(), nullptr))
                  .find("a training step changes the parameters, but 1 "
                        "requests of the session's generator wait or run"),
              std::string::npos);
    trainer.evaluate(tokens);
    EXPECT_NE(tsr_session_init(trainer.get()), TSR_OK);
    EXPECT_EQ(tsr_generator_cancel(generator.get(), id), TSR_OK);
    generator.step();
    trainer.step(tokens);
    // The slots were filled with other parameters.
    id = generator.add({1, 2, 3}, requestOf(4));
    generator.run();
    EXPECT_EQ(tsr_generator_reused(generator.get()), 0);
  }
  ASSERT_EQ(tsr_generator_create_on(trainer.get(), &second), TSR_OK);
  tsr_generator_destroy(second);
  Trainer alone(artifactOf(kCases[0], "train"));
  EXPECT_NE(lastError(tsr_generator_create_on(alone.get(), &second))
                .find("the artifact has no programs that generate"),
            std::string::npos);
}

} // namespace
