//===- ExpertsTest.cpp - whoever a router sends tokens to -----------------===//
// Buffers of experts hold as many rows as a router can route, on every mesh, or
// fewer, in rounds; the serial program is the reference.
//===----------------------------------------------------------------------===//

#include "test/Numerics/Model.h"
#include "test/Numerics/Trainer.h"
#include "llvm/Support/FormatVariadic.h"
#include <cctype>
#include <gtest/gtest.h>

using namespace tessera::test;

namespace {

constexpr int64_t kExperts = 4;

std::string mixtral(int64_t perToken) {
  return scratchFile(
      "config.json",
      llvm::formatv(
          R"({{"model_type": "mixtral", "vocab_size": 29, "hidden_size": 16,
               "intermediate_size": 20, "num_hidden_layers": 2,
               "num_attention_heads": 4, "num_key_value_heads": 4,
               "num_local_experts": {0}, "num_experts_per_tok": {1},
               "max_position_embeddings": 8, "hidden_act": "silu",
               "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
               "output_router_logits": true, "router_aux_loss_coef": 0.02,
               "tie_word_embeddings": false, "initializer_range": 0.2})",
          kExperts, perToken));
}

bool endsWith(const std::string &name, const std::string &end) {
  return name.size() >= end.size() &&
         name.compare(name.size() - end.size(), end.size(), end) == 0;
}

/// Gives every token a large first element, from which alone the router's
/// scores follow: expert 0 has the largest, then 1, and so on.
void routeAllAlike(Trainer &trainer) {
  for (const TensorName &tensor : trainer.tensors("parameter")) {
    const bool isRouter = endsWith(tensor.name, "gate.weight");
    if (!isRouter && !endsWith(tensor.name, "embed_tokens.weight"))
      continue;
    const size_t width = isRouter ? tensor.elements / kExperts : 16;
    Values values = trainer.read(tensor);
    for (size_t row = 0; row < tensor.elements / width; ++row)
      for (size_t c = 0; c < width; ++c)
        if (c == 0 || isRouter)
          values[row * width + c] = c > 0 ? 0 : isRouter ? -double(row) : 4;
    trainer.write(tensor, values);
  }
}

struct Trained {
  Values losses;
  std::vector<Values> parameters;
};

Trained train(const std::string &config, const Build &build, bool alike) {
  Trainer trainer(compileModel(config, build), {1, /*poison=*/true});
  if (alike)
    routeAllAlike(trainer);
  Trained result;
  for (uint32_t step = 0; step < 3; ++step)
    result.losses.push_back(trainer.step(trainer.learnableTokens(step)).loss);
  for (const TensorName &tensor : trainer.tensors("parameter"))
    result.parameters.push_back(trainer.read(tensor));
  return result;
}

void expectNear(const Trained &found, const Trained &wanted) {
  for (size_t i = 0; i < wanted.losses.size(); ++i)
    EXPECT_NEAR(found.losses[i] / wanted.losses[i], 1, 1e-12) << i;
  ASSERT_EQ(found.parameters.size(), wanted.parameters.size());
  for (size_t i = 0; i < wanted.parameters.size(); ++i)
    EXPECT_LT(relativeError(found.parameters[i], wanted.parameters[i]), 1e-9)
        << i;
}

struct Case {
  const char *mesh;
  int64_t perToken;
  bool alike; ///< The last of 4 experts get no token.
  int64_t batch = 8, sequence = 8, microBatches = 1;
  const char *recompute = "none";
  bool sequenceParallel = false;
  const char *buffer = "0"; ///< Room of experts, in even shares.
  bool messages = false;
};

std::string lettersOf(const std::string &text) {
  std::string letters;
  for (char letter : text)
    if (std::isalnum(static_cast<unsigned char>(letter)))
      letters += letter;
  return letters;
}

std::string nameOf(const ::testing::TestParamInfo<Case> &info) {
  const Case &c = info.param;
  return lettersOf(c.mesh) + "_k" + std::to_string(c.perToken) +
         (c.alike ? "_alike" : "") + "_" + std::to_string(c.batch) + "x" +
         std::to_string(c.sequence) + "_" + c.recompute +
         std::to_string(c.microBatches) +
         (c.sequenceParallel ? "_sequence" : "") +
         (std::string(c.buffer) == "0" ? "" : "_rounds" + lettersOf(c.buffer)) +
         (c.messages ? "_messages" : "");
}

Build buildOf(const Case &c) {
  Build build;
  build.mesh = c.mesh;
  build.batch = c.batch;
  build.sequence = c.sequence;
  build.microBatches = c.microBatches;
  build.recompute = c.recompute;
  build.sequenceParallel = c.sequenceParallel;
  build.emulateGrid = c.messages;
  if (std::string(c.buffer) != "default")
    build.flags = {{"expert-buffer", c.buffer}};
  return build;
}

class ExpertsTest : public ::testing::TestWithParam<Case> {};

TEST_P(ExpertsTest, TrainsAsTheSerialProgramDoes) {
  std::string config = mixtral(GetParam().perToken);
  Build build = buildOf(GetParam()), serial = build;
  serial.mesh = "";
  serial.recompute = "none";
  serial.sequenceParallel = false;
  serial.emulateGrid = false;
  serial.flags.clear();
  expectNear(train(config, build, GetParam().alike),
             train(config, serial, GetParam().alike));
}

INSTANTIATE_TEST_SUITE_P(
    Routers, ExpertsTest,
    ::testing::Values(
        Case{"ep=2", 2, false}, Case{"ep=2", 2, true}, Case{"ep=4", 2, true},
        Case{"ep=4", 1, true}, Case{"ep=4", 4, false}, Case{"ep=2", 1, false},
        Case{"dp=2,ep=2", 2, true}, Case{"ep=2,tp=2", 2, true},
        Case{"cp=2,ep=2", 2, false}, Case{"pp=2,ep=2", 2, true, 8, 8, 2},
        Case{"ep=2", 2, true, 8, 8, 2}, Case{"ep=4", 2, true, 4, 1},
        Case{"tp=2", 2, true, 3, 7, 1, "none", true},
        Case{"ep=2,tp=2", 2, false, 8, 8, 2, "selective", true},
        Case{"ep=2", 2, true, 8, 8, 1, "selective"},
        Case{"ep=2", 1, false, 8, 8, 1, "full"}),
    nameOf);

/// Less room than rows that come, so that a layer's experts work in 2 to 10
/// rounds, some of which are empty. The last case has room for one row.
INSTANTIATE_TEST_SUITE_P(
    Rounds, ExpertsTest,
    ::testing::Values(
        Case{"ep=2", 2, true, 8, 8, 1, "none", false, "1"},
        Case{"ep=2", 2, false, 8, 7, 1, "none", false, "0.3"},
        Case{"ep=4", 2, true, 8, 8, 1, "none", false, "1.25"},
        Case{"ep=4", 1, true, 4, 7, 1, "none", false, "0.3"},
        Case{"dp=2,ep=2", 1, false, 8, 8, 2, "none", false, "0.7"},
        Case{"ep=2,tp=2", 2, true, 8, 8, 1, "selective", false, "0.4"},
        Case{"pp=2,ep=2", 2, true, 8, 8, 2, "none", false, "1"},
        Case{"ep=2", 1, true, 8, 8, 2, "full", false, "0.5"},
        Case{"ep=4", 1, true, 4, 7, 1, "none", false, "default"},
        Case{"ep=2,tp=2", 2, true, 4, 7, 1, "none", true, "0.4"},
        Case{"ep=2,tp=2", 1, false, 8, 8, 2, "full", true, "0.7"},
        Case{"ep=4", 2, false, 4, 1, 1, "none", false, "0.01"}),
    nameOf);

/// Programs for a GPU exchange rows in messages of fixed size, here between
/// ranks of the CPU, with the GPU's kernels for what is not of experts. A rank
/// gets all rows, a share of them, one from each rank.
Case inMessages(Case c) {
  c.messages = true;
  return c;
}

INSTANTIATE_TEST_SUITE_P(
    Messages, ExpertsTest,
    ::testing::Values(
        inMessages({"ep=2", 2, false}), inMessages({"ep=4", 1, true}),
        inMessages({"ep=4", 2, true, 8, 8, 1, "none", false, "default"}),
        inMessages({"ep=4", 2, true, 8, 8, 1, "none", false, "1.25"}),
        inMessages({"ep=4", 1, false, 4, 7, 1, "selective", false, "0.3"}),
        inMessages({"dp=2,ep=2", 1, false, 8, 8, 2, "none", false, "0.7"}),
        inMessages({"pp=2,ep=2", 2, true, 8, 8, 2, "full", false, "1"}),
        inMessages({"ep=2,tp=2", 2, true, 4, 7, 1, "selective", true, "0.4"}),
        inMessages({"ep=4", 2, false, 4, 1, 1, "none", false, "0.01"})),
    nameOf);

} // namespace
