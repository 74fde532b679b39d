//===- PrefixReuseTest.cpp - prompts that begin as other texts did --------===//
// Keys and values are taken over from slots that run or have run; texts are
// those of prompts that run as a whole, with NaN where nothing was appended.
//===----------------------------------------------------------------------===//

#include "test/Numerics/Model.h"
#include "test/Numerics/TestGenerator.h"
#include <gtest/gtest.h>

using namespace tessera::test;

namespace {

struct Case {
  const char *name, *mesh, *window;
};

class PrefixReuseTest : public testing::TestWithParam<Case> {
protected:
  static std::string artifact() {
    Build build{Strategy{GetParam().mesh}};
    build.generates = true;
    build.sequence = 32;
    build.maxBatch = 4;
    build.prefillChunk = 6;
    return compileModel(
        scratchFile("config.json", std::string(R"({"model_type": "mistral",
        "num_hidden_layers": 2, "hidden_size": 32, "intermediate_size": 44,
        "num_attention_heads": 4, "num_key_value_heads": 2,
        "max_position_embeddings": 32, "vocab_size": 61, "rms_norm_eps": 1e-5,
        "hidden_act": "silu", "initializer_range": 0.3, "sliding_window": )") +
                                       GetParam().window + "}"),
        build);
  }

  void expectAsAlone(const Continued &found, uint64_t prompt,
                     const tsr_request_options &options) {
    tsr_request_options whole = options;
    whole.recompute_prompt = 1;
    TestGenerator fresh(artifact());
    int64_t id = fresh.add(
        Tokens(found.tokens.begin(), found.tokens.begin() + prompt), whole);
    fresh.run();
    EXPECT_EQ(tsr_generator_reused(fresh.get()), 0);
    EXPECT_EQ(found.tokens, fresh.result(id).tokens);
    // Products may add in another order where a step has another size.
    EXPECT_LT(relativeError(found.logProbabilities,
                            fresh.result(id).logProbabilities),
              1e-13);
  }
};

tsr_request_options drawing(int64_t seed) {
  tsr_request_options options = requestOf(4);
  options.temperature = 0.9;
  options.seed = seed;
  return options;
}

/// Each turn is the text so far and a line: only the line runs, and the token
/// that ended the last answer.
TEST_P(PrefixReuseTest, TurnsOfAConversationRunOnce) {
  TestGenerator generator(artifact());
  Tokens text = {5, 9, 13, 2, 7};
  int64_t reused = 0;
  for (int64_t turn = 0; turn < 3; ++turn) {
    const int64_t id = generator.add(text, drawing(turn));
    generator.run();
    expectAsAlone(generator.result(id), text.size(), drawing(turn));
    EXPECT_EQ(tsr_generator_reused(generator.get()), reused) << turn;
    text = generator.result(id).tokens;
    reused += static_cast<int64_t>(text.size()) - 1;
    text.insert(text.end(), {11, 3});
  }
}

/// A system prompt, and what several ask after it, while the first one runs,
/// when it has ended, and in turn for more slots than there are.
TEST_P(PrefixReuseTest, RequestsShareTheirBeginning) {
  TestGenerator generator(artifact());
  const Tokens system = {4, 4, 8, 15, 16, 23, 42, 1, 2};
  std::vector<int64_t> ids;
  for (int32_t k = 0; k < 9; ++k) {
    Tokens prompt = system;
    prompt.insert(prompt.end(), {30 + k, 20 - k});
    ids.push_back(generator.add(prompt, drawing(k)));
    if (k == 0 || k == 4)
      for (int64_t step = 0; step < 2; ++step)
        generator.step();
  }
  generator.run();
  const auto shared = static_cast<int64_t>(system.size());
  EXPECT_GE(tsr_generator_reused(generator.get()), 4 * shared);
  for (size_t k = 0; k < ids.size(); ++k)
    expectAsAlone(generator.result(ids[k]), system.size() + 2,
                  drawing(static_cast<int64_t>(k)));
}

INSTANTIATE_TEST_SUITE_P(Meshes, PrefixReuseTest,
                         testing::Values(Case{"serial", "", "null"},
                                         Case{"lanes", "dp=2", "5"},
                                         Case{"heads", "tp=2", "null"},
                                         Case{"places", "cp=3", "5"}),
                         [](const auto &info) { return info.param.name; });

} // namespace
