//===- QuantizedWeightsTest.cpp - weights in int8 -------------------------===//
// The weights of a generator with --weights int8 are as near as the bound says,
// and the same on every mesh; its texts are those that the forward program
// makes of the weights that it holds (GenerationTest.cpp).
//===----------------------------------------------------------------------===//

#include "test/Numerics/Model.h"
#include "test/Numerics/TestGenerator.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace tessera::test;

namespace {

constexpr const char *kTied = R"({"model_type": "gpt2", "n_layer": 1,
    "n_head": 4, "n_embd": 32, "n_positions": 8, "vocab_size": 61,
    "initializer_range": 0.3})";
constexpr const char *kUntied = R"({"model_type": "llama",
    "num_hidden_layers": 1, "hidden_size": 32, "intermediate_size": 44,
    "num_attention_heads": 4, "num_key_value_heads": 1,
    "max_position_embeddings": 8, "vocab_size": 61, "rms_norm_eps": 1e-5,
    "hidden_act": "silu", "tie_word_embeddings": false,
    "initializer_range": 0.3})";
constexpr const char *kExperts = R"({"model_type": "mixtral",
    "num_hidden_layers": 1, "hidden_size": 32, "intermediate_size": 44,
    "num_attention_heads": 4, "num_key_value_heads": 1,
    "max_position_embeddings": 8, "vocab_size": 61, "rms_norm_eps": 1e-5,
    "hidden_act": "silu", "num_local_experts": 4, "num_experts_per_tok": 2,
    "tie_word_embeddings": false, "initializer_range": 0.3})";

std::string compiled(const char *config, const char *mesh, const char *weights,
                     const char *precision = "f64") {
  Build build{Strategy{mesh}};
  build.generates = true;
  build.precision = precision;
  build.flags = {{"weights", weights}};
  return compileModel(scratchFile("config.json", config), build);
}

/// Shape [channels, terms] of a parameter, and how far its elements lie apart.
struct Channels {
  int64_t count, terms, step, termStep;
};

/// Returns the channels of [in, out] matrices, as GPT-2 stores them, and of
/// others and of tables.
Channels channelsOf(const std::string &name, int64_t elements, int64_t count) {
  const int64_t terms = elements / count;
  const bool isConv1D = name.find("attn.c_") != std::string::npos ||
                        name.find("mlp.c_") != std::string::npos;
  return isConv1D ? Channels{count, terms, 1, count}
                  : Channels{count, terms, terms, 1};
}

void expectWithinHalfScale(const std::string &name, const Values &wanted,
                           const Values &found, const Values &scales) {
  const Channels of = channelsOf(name, wanted.size(), scales.size());
  for (int64_t c = 0; c < of.count; ++c) {
    double largest = 0, worst = 0, most = 0;
    for (int64_t t = 0; t < of.terms; ++t) {
      const double w = wanted[c * of.step + t * of.termStep];
      const double q = found[c * of.step + t * of.termStep] / scales[c];
      ASSERT_EQ(q, std::nearbyint(q)) << name;
      largest = std::max(largest, std::fabs(w));
      most = std::max(most, std::fabs(q));
      worst = std::max(worst, std::fabs(w - q * scales[c]));
    }
    EXPECT_EQ(most, 127) << name;
    EXPECT_LE(worst, scales[c] / 2) << name << ", channel " << c;
    EXPECT_GT(worst, scales[c] / 8) << name << ", channel " << c;
    EXPECT_EQ(float(scales[c]), scales[c]) << name;
    EXPECT_NEAR(scales[c] * 127 / largest, 1, 2e-7) << name;
  }
}

/// Expects that the error of products is that of weights times the sum of what
/// they are multiplied by, so that it is at most 1/254 of the channel's
/// largest.
void expectProductBound(const std::string &name, const Values &wanted,
                        const Values &found, const Values &scales) {
  const Channels of = channelsOf(name, wanted.size(), scales.size());
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  Values x(of.terms);
  double sum = 0;
  for (double &value : x)
    sum += std::fabs(value = normal(random));
  for (int64_t c = 0; c < of.count; ++c) {
    double error = 0, largest = 0;
    for (int64_t t = 0; t < of.terms; ++t) {
      const int64_t at = c * of.step + t * of.termStep;
      error += x[t] * (found[at] - wanted[at]);
      largest = std::max(largest, std::fabs(wanted[at]));
    }
    EXPECT_LE(std::fabs(error), sum * largest / 254 * (1 + 2e-7)) << name;
  }
}

TEST(QuantizedWeightsTest, AreWithinHalfAScale) {
  for (const char *config : {kTied, kUntied, kExperts}) {
    TestGenerator whole(compiled(config, "", "precision"));
    TestGenerator rounded(compiled(config, "", "int8"));
    auto scales = rounded.tensors("scale");
    EXPECT_EQ(scales.size(), config == kTied ? 5u : 8u);
    for (const TensorName &scale : scales)
      for (const TensorName &parameter : rounded.tensors("parameter"))
        if (parameter.name == scale.name) {
          Values wanted = whole.read(parameter),
                 found = rounded.read(parameter);
          expectWithinHalfScale(scale.name, wanted, found, rounded.read(scale));
          expectProductBound(scale.name, wanted, found, rounded.read(scale));
        }
  }
}

/// Vectors, positions, routers and the table of an untied model keep all bits.
TEST(QuantizedWeightsTest, OtherParametersAreAsTheyWere) {
  for (const char *config : {kUntied, kExperts}) {
    TestGenerator whole(compiled(config, "", "precision"));
    TestGenerator rounded(compiled(config, "", "int8"));
    int64_t same = 0;
    for (const TensorName &parameter : rounded.tensors("parameter"))
      same += rounded.read(parameter) == whole.read(parameter);
    // Three norms and the table, and the router.
    EXPECT_EQ(same, config == kUntied ? 4 : 5);
  }
}

void expectTheSameOn(std::initializer_list<const char *> meshes,
                     const char *config) {
  TestGenerator serial(compiled(config, "", "int8"));
  for (const char *mesh : meshes) {
    TestGenerator split(compiled(config, mesh, "int8"));
    for (const char *role : {"scale", "parameter"})
      for (const TensorName &tensor : serial.tensors(role))
        EXPECT_EQ(split.read(tensor), serial.read(tensor))
            << mesh << ", " << role << " " << tensor.name;
  }
}

/// Matrices that are split along what they sum over have the scales of whole
/// channels: bit for bit the same numbers as without a mesh.
TEST(QuantizedWeightsTest, AreTheSameOnEveryMesh) {
  for (const char *config : {kTied, kUntied})
    expectTheSameOn({"tp=2", "tp=4", "dp=2,tp=2"}, config);
  expectTheSameOn({"ep=2", "ep=2,tp=2"}, kExperts);
}

/// Storing what is stored changes no bit, and a channel of zeros is one.
TEST(QuantizedWeightsTest, AreStoredOnce) {
  TestGenerator generator(compiled(kUntied, "tp=2", "int8", "f32"));
  const TensorName name = generator.tensors("scale").front();
  TensorName parameter = name;
  for (const TensorName &tensor : generator.tensors("parameter"))
    if (tensor.name == name.name)
      parameter = tensor;
  Values values = generator.read(parameter), scales = generator.read(name);
  generator.write(parameter, values);
  EXPECT_EQ(generator.read(parameter), values);
  EXPECT_EQ(generator.read(name), scales);
  const int64_t terms = parameter.elements / name.elements;
  std::fill_n(values.begin(), terms, 0);
  values[terms] = 1e-44; // its scale would be less than every f32
  generator.write(parameter, values);
  Values stored = generator.read(parameter);
  EXPECT_EQ(generator.read(name)[0], 0);
  EXPECT_EQ(Values(stored.begin(), stored.begin() + terms), Values(terms, 0));
}

/// A checkpoint keeps all bits of parameters, and integers have not all of
/// them.
TEST(QuantizedWeightsTest, AreNotSaved) {
  Trainer session(compiled(kUntied, "", "int8"));
  EXPECT_EQ(tsr_session_save(session.get(), scratchPath("run").c_str()),
            TSR_UNSUPPORTED);
  EXPECT_NE(std::string(tsr_last_error())
                .find("is in int8 and cannot be saved in a checkpoint; compile "
                      "the model without --weights int8"),
            std::string::npos)
      << tsr_last_error();
}

TEST(QuantizedWeightsTest, RefuseWhatHasNoScale) {
  TestGenerator generator(compiled(kUntied, "", "int8"));
  for (const TensorName &tensor : generator.tensors("parameter"))
    if (tensor.name.find("lm_head") != std::string::npos) {
      Values values(tensor.elements, 1e300);
      EXPECT_EQ(tsr_generator_write(generator.get(), "parameter",
                                    tensor.name.c_str(), values.data(),
                                    values.size()),
                TSR_INVALID_ARGUMENT);
      EXPECT_NE(std::string(tsr_last_error()).find("in int8 its scale"),
                std::string::npos)
          << tsr_last_error();
      return;
    }
  ADD_FAILURE() << "there is no head";
}

} // namespace
