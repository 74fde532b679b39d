//===- CudaGenerationTest.cpp - programs that generate, on the device -----===//
// Programs of --programs generate are compiled for the device and run by its
// own host code, as CudaProgramTest.cpp does it with training steps: rows from
// the host, appends and attention by the device's own kernels, logits or the
// best of them to the host. Texts are those of the CPU's artifact, chosen or
// drawn; log-probabilities differ by the order of sums in attention.
//===----------------------------------------------------------------------===//

#include "test/Numerics/Model.h"
#include "test/Numerics/TestGenerator.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace tessera::test;

namespace {

constexpr int64_t kLength = 24, kVocabulary = 61, kRequests = 6;

/// Sizes that 2 does not divide, weights that make logits differ.
constexpr const char *kGpt2 =
    R"({"model_type": "gpt2", "n_layer": 2, "n_head": 4, "n_embd": 36,
        "n_positions": 24, "vocab_size": 61, "initializer_range": 0.3,
        "resid_pdrop": 0, "embd_pdrop": 0, "attn_pdrop": 0})";
constexpr const char *kLlama =
    R"({"model_type": "llama", "num_hidden_layers": 2,
        "hidden_size": 32, "intermediate_size": 44, "num_attention_heads": 4,
        "num_key_value_heads": 2, "max_position_embeddings": 32,
        "vocab_size": 61, "rms_norm_eps": 1e-5, "hidden_act": "silu",
        "initializer_range": 0.3})";
constexpr const char *kMistral =
    R"({"model_type": "mistral", "num_hidden_layers": 2,
        "hidden_size": 32, "intermediate_size": 44, "num_attention_heads": 4,
        "num_key_value_heads": 2, "max_position_embeddings": 32,
        "vocab_size": 61, "rms_norm_eps": 1e-5, "hidden_act": "silu",
        "sliding_window": 5, "initializer_range": 0.3})";
constexpr const char *kQwen2 =
    R"({"model_type": "qwen2", "num_hidden_layers": 2,
        "hidden_size": 32, "intermediate_size": 44, "num_attention_heads": 4,
        "num_key_value_heads": 1, "max_position_embeddings": 32,
        "vocab_size": 61, "rms_norm_eps": 1e-5, "hidden_act": "silu",
        "initializer_range": 0.3})";
constexpr const char *kMixtral =
    R"({"model_type": "mixtral", "num_hidden_layers": 2,
        "hidden_size": 32, "intermediate_size": 44, "num_attention_heads": 4,
        "num_key_value_heads": 2, "max_position_embeddings": 32,
        "vocab_size": 61, "rms_norm_eps": 1e-5, "hidden_act": "silu",
        "num_local_experts": 4, "num_experts_per_tok": 2,
        "initializer_range": 0.3})";
constexpr const char *kT5 =
    R"({"model_type": "t5", "num_layers": 1, "num_decoder_layers": 2,
        "d_model": 32, "d_kv": 6, "d_ff": 44, "num_heads": 4, "vocab_size": 61,
        "feed_forward_proj": "gated-gelu", "tie_word_embeddings": false,
        "relative_attention_num_buckets": 8, "dropout_rate": 0,
        "relative_attention_max_distance": 9, "decoder_start_token_id": 2,
        "pad_token_id": 60, "initializer_factor": 2})";

struct Case {
  const char *name, *config, *precision, *mesh;
  const char *communicator = "threads";
  const char *weights = "precision";
  const char *candidates = nullptr; ///< Null: all logits.
};

std::string compileFor(const Case &test, const char *device) {
  Build build{Strategy{test.mesh}};
  build.generates = true;
  build.precision = test.precision;
  build.sequence = kLength;
  build.maxBatch = 4;
  build.prefillChunk = 7;
  build.flags = {{"weights", test.weights}};
  if (test.candidates)
    build.flags.push_back({"candidates", test.candidates});
  build.emulateGrid = true;
  build.device = device;
  return compileModel(scratchFile("config.json", test.config), build);
}

/// One thread, as the stand-in multiplies.
GeneratorSettings settingsOf(const Case &test, const char *device) {
  GeneratorSettings settings;
  settings.device = device;
  if (std::string(device) == "cuda")
    settings.communicator = test.communicator;
  settings.threads = 1;
  settings.poison = false; // steps are captured
  return settings;
}

/// Fills caches with NaN, which stays where nothing is appended.
void fillCaches(TestGenerator &generator) {
  int64_t count = 0;
  for (const char *role : {"key_cache", "value_cache"})
    for (const TensorName &cache : generator.tensors(role)) {
      generator.write(cache, Values(cache.elements, std::nan("")));
      ++count;
    }
  EXPECT_GT(count, 0);
}

Tokens promptOf(int64_t request) {
  std::mt19937 random(static_cast<uint32_t>(request + 1));
  Tokens prompt(1 + random() % 14);
  for (int32_t &token : prompt)
    token = static_cast<int32_t>(random() % (kVocabulary - 1));
  return prompt;
}

/// Six requests for four slots, some after some steps; every other one draws.
/// The last continues the first one's prompt, whose places are copied.
std::vector<Continued> generate(TestGenerator &generator) {
  std::vector<int64_t> ids;
  for (int64_t k = 0; k < kRequests; ++k) {
    tsr_request_options options = requestOf(4 + k);
    options.temperature = k % 2 ? 0.8 : 0;
    options.seed = k;
    Tokens prompt = promptOf(k + 1 < kRequests ? k : 0);
    if (k + 1 == kRequests)
      prompt.push_back(3);
    ids.push_back(generator.add(prompt, options));
    for (int64_t step = 0; step < k % 3; ++step)
      generator.step();
  }
  generator.run();
  std::vector<Continued> results;
  for (int64_t id : ids)
    results.push_back(generator.result(id));
  return results;
}

void expectSame(const std::vector<Continued> &found,
                const std::vector<Continued> &wanted, double tolerance) {
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t k = 0; k < wanted.size(); ++k) {
    EXPECT_EQ(found[k].ended, TSR_ENDED_LENGTH);
    EXPECT_EQ(found[k].tokens, wanted[k].tokens) << "request " << k;
    ASSERT_EQ(found[k].logProbabilities.size(),
              wanted[k].logProbabilities.size());
    for (size_t i = 0; i < wanted[k].logProbabilities.size(); ++i)
      EXPECT_NEAR(found[k].logProbabilities[i], wanted[k].logProbabilities[i],
                  tolerance)
          << "request " << k;
  }
}

class CudaGenerationTest : public testing::TestWithParam<Case> {};

TEST_P(CudaGenerationTest, TextsAreThoseOfTheCpu) {
  const Case &test = GetParam();
  TestGenerator cpu(compileFor(test, "cpu"), "", settingsOf(test, "cpu"));
  TestGenerator device(compileFor(test, "cuda"), "", settingsOf(test, "cuda"));
  fillCaches(device);
  const bool bf16 = std::string(test.precision) == "bf16";
  expectSame(generate(device), generate(cpu), bf16 ? 0.1 : 1e-4);
  const int64_t reused = tsr_generator_reused(device.get());
  EXPECT_EQ(reused, tsr_generator_reused(cpu.get()));
  EXPECT_EQ(reused > 0, test.config != kT5);
}

/// Returns the log-probabilities of all tokens but a text's first, and which
/// are predictions; other texts are continued meanwhile.
std::vector<tsr_token_score> scores(TestGenerator &generator) {
  std::vector<int64_t> ids;
  std::vector<Tokens> texts;
  for (int64_t k = 0; k < 3; ++k) {
    generator.add(promptOf(k + 7), requestOf(6));
    Tokens text = promptOf(k);
    text.push_back(5);
    int64_t id = -1;
    EXPECT_EQ(tsr_generator_score(generator.get(), text.data(), text.size(), 1,
                                  nullptr, &id),
              TSR_OK)
        << tsr_last_error();
    ids.push_back(id);
    texts.push_back(text);
  }
  generator.run();
  std::vector<tsr_token_score> all;
  for (size_t k = 0; k < ids.size(); ++k) {
    std::vector<tsr_token_score> own(texts[k].size() - 1);
    int32_t ended = 0;
    EXPECT_EQ(tsr_generator_take_scores(generator.get(), ids[k], own.data(),
                                        own.size(), &ended),
              TSR_OK)
        << tsr_last_error();
    EXPECT_EQ(ended, TSR_ENDED_SCORED);
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

class CudaScoringTest : public testing::TestWithParam<Case> {};

TEST_P(CudaScoringTest, ScoresAreThoseOfTheCpu) {
  const Case &test = GetParam();
  TestGenerator cpu(compileFor(test, "cpu"), "", settingsOf(test, "cpu"));
  TestGenerator device(compileFor(test, "cuda"), "", settingsOf(test, "cuda"));
  fillCaches(device);
  const std::vector<tsr_token_score> found = scores(device);
  const std::vector<tsr_token_score> wanted = scores(cpu);
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_NEAR(found[i].log_probability, wanted[i].log_probability, 1e-4);
    EXPECT_EQ(found[i].is_largest, wanted[i].is_largest) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, CudaScoringTest,
    testing::Values(Case{"gpt2_f32", kGpt2, "f32", ""},
                    Case{"llama_f32_dp2tp2", kLlama, "f32", "dp=2,tp=2"}),
    [](const auto &info) { return std::string(info.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Models, CudaGenerationTest,
    testing::Values(
        Case{"gpt2_f32", kGpt2, "f32", ""},
        Case{"gpt2_bf16", kGpt2, "bf16", ""},
        Case{"gpt2_f32_dp2tp2", kGpt2, "f32", "dp=2,tp=2"},
        Case{"gpt2_f32_pp2", kGpt2, "f32", "pp=2"},
        Case{"llama_f32", kLlama, "f32", ""},
        Case{"llama_bf16_tp2", kLlama, "bf16", "tp=2"},
        Case{"llama_f32_tp2_nccl", kLlama, "f32", "tp=2", "nccl"},
        Case{"mistral_f32_tp2", kMistral, "f32", "tp=2"},
        Case{"mistral_f32_cp2", kMistral, "f32", "cp=2"},
        Case{"qwen2_f32_tp4", kQwen2, "f32", "tp=4"},
        Case{"mixtral_f32", kMixtral, "f32", ""},
        Case{"mixtral_f32_ep2", kMixtral, "f32", "ep=2"},
        Case{"gpt2_f32_int8_tp2", kGpt2, "f32", "tp=2", "threads", "int8"},
        Case{"llama_bf16_int8", kLlama, "bf16", "", "threads", "int8"},
        Case{"gpt2_f32_tp2_top", kGpt2, "f32", "tp=2", "threads", "precision",
             "9"},
        Case{"mixtral_f32_int8_ep2", kMixtral, "f32", "ep=2", "threads",
             "int8"},
        Case{"mixtral_bf16_int8", kMixtral, "bf16", "", "threads", "int8"},
        Case{"t5_f32", kT5, "f32", ""},
        Case{"t5_f32_dp2tp2", kT5, "f32", "dp=2,tp=2"},
        Case{"t5_f32_pp2", kT5, "f32", "pp=2"},
        Case{"t5_f32_cp2", kT5, "f32", "cp=2"}),
    [](const auto &info) { return std::string(info.param.name); });

struct SharedCase {
  const char *name, *config, *mesh;
  int64_t zero = 0;
};

std::string compileShared(const SharedCase &test, const char *device) {
  Build build{Strategy{test.mesh}};
  build.precision = "f32";
  build.batch = 4;
  build.sequence = 16;
  build.zero = test.zero;
  build.paddingMask = test.config == kT5;
  build.prefillChunk = 5;
  build.emulateGrid = true;
  build.device = device;
  build.flags = {{"programs", "train,generate"}};
  return compileModel(scratchFile("config.json", test.config), build);
}

Trainer trainerOn(const SharedCase &test, const char *device) {
  SessionSettings settings;
  settings.device = device;
  settings.threads = 1;
  return Trainer(compileShared(test, device), settings);
}

class CudaSharedParametersTest : public testing::TestWithParam<SharedCase> {};

/// Steps have the CPU's bits although texts are continued between them, and
/// texts are those of the parameters as they are then.
TEST_P(CudaSharedParametersTest, StepsAndTextsAreThoseOfTheCpu) {
  Trainer cpu = trainerOn(GetParam(), "cpu");
  Trainer device = trainerOn(GetParam(), "cuda");
  TestGenerator cpuTexts(cpu), deviceTexts(device);
  const std::vector<Continued> before = continueTexts(deviceTexts);
  expectSame(before, continueTexts(cpuTexts), 1e-4);
  for (uint32_t step = 0; step < 4; ++step) {
    const Tokens tokens = cpu.learnableTokens(step);
    const tsr_step_result wanted = cpu.step(tokens),
                          found = device.step(tokens);
    EXPECT_EQ(found.loss, wanted.loss) << step;
    EXPECT_EQ(found.grad_norm, wanted.grad_norm) << step;
    if (step == 1)
      expectSame(continueTexts(deviceTexts), continueTexts(cpuTexts), 1e-4);
  }
  const std::vector<Continued> after = continueTexts(deviceTexts);
  expectSame(after, continueTexts(cpuTexts), 1e-4);
  EXPECT_NE(after[4].logProbabilities, before[4].logProbabilities);
}

INSTANTIATE_TEST_SUITE_P(
    Models, CudaSharedParametersTest,
    testing::Values(SharedCase{"gpt2", kGpt2, ""},
                    SharedCase{"gpt2_dp2tp2", kGpt2, "dp=2,tp=2"},
                    SharedCase{"llama_zero3", kLlama, "dp=2", 3},
                    SharedCase{"gpt2_pp2", kGpt2, "pp=2"},
                    SharedCase{"t5_dp2", kT5, "dp=2"}),
    [](const auto &info) { return std::string(info.param.name); });

} // namespace
