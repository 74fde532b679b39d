//===- InvarianceTest.cpp - every mesh gives the same bits ----------------===//
// With --layout-invariant losses, norms, parameters and moments after some
// steps in f32 are those of the serial run, bit for bit; without, they are not.
//===----------------------------------------------------------------------===//

#include "test/Numerics/Model.h"
#include "test/Numerics/Trainer.h"
#include <cstring>
#include <gtest/gtest.h>

using namespace tessera::test;

namespace {

struct Case {
  const char *mesh;
  int64_t microBatches = 1;
  const char *recompute = "none";
};

/// Writes a config that has everything that sums: tied embeddings, dropout,
/// clipping; sizes that 8 ranks share.
std::string gpt2() {
  return scratchFile(
      "config.json",
      R"({"model_type": "gpt2", "n_layer": 2, "n_head": 8, "n_embd": 48,
          "n_positions": 16, "vocab_size": 72, "resid_pdrop": 0.1,
          "embd_pdrop": 0.1, "attn_pdrop": 0.1})");
}

/// Writes a config with grouped heads, rotary positions, gated feed-forward,
/// untied embeddings.
std::string llama() {
  return scratchFile(
      "config.json",
      R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 88,
          "num_hidden_layers": 2, "num_attention_heads": 8,
          "num_key_value_heads": 4, "vocab_size": 80, "hidden_act": "silu",
          "max_position_embeddings": 16, "rms_norm_eps": 1e-5,
          "tie_word_embeddings": false})");
}

std::string compileFor(const std::string &config, const Case &how,
                       int64_t chunks) {
  Build build;
  build.mesh = how.mesh;
  build.precision = "f32";
  build.microBatches = how.microBatches;
  build.batch = 8 * how.microBatches;
  build.clip = 0.5;
  build.layoutInvariant = chunks;
  build.recompute = how.recompute;
  return compileModel(config, build);
}

/// Losses and norms of the steps, then all that a checkpoint holds, which says
/// what it is where two runs differ.
struct Outcome {
  Values numbers;
  std::vector<std::pair<TensorName, Values>> state;
};

Outcome train(const std::string &artifact, int32_t threads = 0) {
  SessionSettings settings;
  settings.threads = threads;
  Trainer trainer(artifact, settings);
  trainer.setSchedule(1e-2, 1e-3, 6);
  Outcome outcome;
  for (uint32_t step = 0; step < 4; ++step) {
    tsr_step_result result = trainer.step(trainer.learnableTokens(step));
    outcome.numbers.push_back(result.loss);
    outcome.numbers.push_back(result.grad_norm);
  }
  for (const char *role : {"parameter", "moment1", "moment2"})
    for (const TensorName &tensor : trainer.tensors(role))
      outcome.state.emplace_back(tensor, trainer.read(tensor));
  return outcome;
}

/// Signs of zeros count, too.
bool sameBits(const Values &a, const Values &b) {
  return a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

void expectSameBits(const Outcome &found, const Outcome &wanted) {
  EXPECT_TRUE(sameBits(found.numbers, wanted.numbers));
  ASSERT_EQ(found.state.size(), wanted.state.size());
  ASSERT_FALSE(found.state.empty());
  for (size_t k = 0; k < found.state.size(); ++k)
    EXPECT_TRUE(sameBits(found.state[k].second, wanted.state[k].second))
        << wanted.state[k].first.role << " " << wanted.state[k].first.name
        << ": largest relative difference "
        << relativeError(found.state[k].second, wanted.state[k].second);
}

constexpr int64_t kChunks = 8;

class InvarianceTest : public ::testing::TestWithParam<Case> {};

std::string nameOf(const ::testing::TestParamInfo<Case> &info) {
  std::string name;
  for (char c : std::string(info.param.mesh))
    if (std::isalnum(c))
      name += c;
  if (info.param.microBatches > 1)
    name += "_batches" + std::to_string(info.param.microBatches);
  if (info.param.recompute != std::string("none"))
    name += std::string("_") + info.param.recompute;
  return name;
}

TEST_P(InvarianceTest, Gpt2HasTheBitsOfOneRank) {
  std::string config = gpt2();
  Case one = GetParam();
  one.mesh = "";
  expectSameBits(train(compileFor(config, GetParam(), kChunks)),
                 train(compileFor(config, one, kChunks)));
}

INSTANTIATE_TEST_SUITE_P(Meshes, InvarianceTest,
                         ::testing::Values(Case{"tp=2"}, Case{"tp=4"},
                                           Case{"tp=8"}, Case{"dp=2"},
                                           Case{"dp=4"}, Case{"dp=2,tp=2"},
                                           Case{"tp=2,dp=4"}, Case{"dp=4,tp=4"},
                                           Case{"dp=2,tp=2", 2},
                                           Case{"dp=2,tp=2", 1, "full"}),
                         nameOf);

TEST(BitsTest, LlamaHasTheBitsOfOneRank) {
  std::string config = llama();
  Outcome serial = train(compileFor(config, {""}, kChunks));
  for (const char *mesh : {"tp=4", "dp=4", "dp=2,tp=2"}) {
    SCOPED_TRACE(mesh);
    expectSameBits(train(compileFor(config, {mesh}, kChunks)), serial);
  }
}

TEST(BitsTest, ThreadsDoNotChangeABit) {
  std::string artifact = compileFor(gpt2(), {"tp=2"}, kChunks);
  expectSameBits(train(artifact, 2), train(artifact, 7));
}

/// The tests above would see different bits if sums had no order.
TEST(BitsTest, WithoutItBitsDiffer) {
  std::string config = gpt2();
  Outcome serial = train(compileFor(config, {""}, 0));
  for (const char *mesh : {"tp=4", "dp=4"}) {
    Outcome other = train(compileFor(config, {mesh}, 0));
    EXPECT_NE(other.numbers, serial.numbers) << mesh;
    EXPECT_LE(relativeError(other.numbers, serial.numbers), 1e-4) << mesh;
  }
}

/// The number of chunks is part of what is computed.
TEST(BitsTest, ChunksChangeBitsAndNothingElse) {
  std::string config = gpt2();
  Outcome eight = train(compileFor(config, {""}, 8));
  Outcome two = train(compileFor(config, {""}, 2));
  Outcome plain = train(compileFor(config, {""}, 0));
  EXPECT_NE(eight.numbers, two.numbers);
  EXPECT_LE(relativeError(eight.numbers, plain.numbers), 1e-4);
  expectSameBits(train(compileFor(config, {"dp=2,tp=2"}, 2)), two);
}

} // namespace
