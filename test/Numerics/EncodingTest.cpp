//===- EncodingTest.cpp - encoded texts against transformers --------------===//
// Hidden states, their means and log-probabilities of BERT, and of T5's encoder
// the first two, through encoder.hpp, equal what transformers
// (reference/make_encoder_reference.py) computed in f64; what cannot be encoded
// is refused.
//===----------------------------------------------------------------------===//

#include "tessera/encoder.hpp"
#include "test/Numerics/Model.h"
#include "test/Numerics/Reference.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <tuple>

using namespace tessera::test;

namespace {

constexpr int64_t kSequence = 8, kPredictions = 3;
/// Length of the sequences in T5's references.
constexpr int64_t kSource = 10;

bool isT5(const std::string &family) { return family.rfind("t5", 0) == 0; }

int64_t sequenceOf(const std::string &family) {
  return isT5(family) ? kSource : kSequence;
}

std::string artifactOf(const std::string &family, const char *precision,
                       const char *mesh, const char *weights = "precision") {
  Build build{Strategy{mesh}};
  build.precision = precision;
  build.sequence = sequenceOf(family);
  build.batch = 4;
  build.paddingMask = family == "bert-padded" || family == "t5-padded";
  build.flags = {{"programs", "encode"}, {"weights", weights}};
  if (!isT5(family))
    build.flags.emplace_back("max-predictions", std::to_string(kPredictions));
  return compileModel(referenceConfig(family), build);
}

tsr_session_options settings() {
  tsr_session_options options = tessera::sessionOptions();
  options.threads = 2;
  options.poison = 1;
  return options;
}

tessera::Encoder encoderOf(const std::string &artifact,
                           const std::string &weights) {
  return tessera::Encoder(tessera::Artifact(artifact), weights, settings());
}

/// Returns sequence `number` without its padding.
tessera::EncoderText textOf(const Reference &reference, int64_t number,
                            int64_t length = kSequence) {
  tessera::EncoderText text;
  for (int64_t i = 0; i < length; ++i) {
    const int64_t at = number * length + i;
    if (reference.paddingMask && reference.ids[at] == 0)
      break;
    text.ids.push_back(reference.ids[at]);
    if (!reference.tokenTypes.empty())
      text.tokenTypes.push_back(reference.tokenTypes[at]);
  }
  return text;
}

/// Reference, precision, mesh.
using Case = std::tuple<const char *, const char *, const char *>;

class EncodingTest : public ::testing::TestWithParam<Case> {
protected:
  /// The tolerance is relative to the largest of a position. f64: sums in
  /// another order. f32: its rounding unit (6e-8) times sums of up to 20 terms
  /// through two layers.
  double tolerance() const {
    return std::string(std::get<1>(GetParam())) == "f64" ? 1e-12 : 2e-5;
  }
  void expectEqual(const Values &found, const std::string &name, int64_t row) {
    const Values &all = wanted.at(name);
    Values own(all.begin() + row * found.size(),
               all.begin() + (row + 1) * found.size());
    EXPECT_LE(relativeError(found, own), tolerance())
        << name << ", row " << row;
  }

  std::string family = std::get<0>(GetParam());
  Reference reference = readReference(referencePath(family));
  std::map<std::string, Values> wanted =
      readTensors(referencePath(family) + "/encoded.safetensors");
};

/// Groups of 3 of 4 texts, positions 3 at a time.
TEST_P(EncodingTest, IsWhatTransformersComputes) {
  auto [name, precision, mesh] = GetParam();
  tessera::Encoder encoder =
      encoderOf(artifactOf(name, precision, mesh),
                referencePath(name) + "/weights.safetensors");
  EXPECT_EQ(encoder.maxPredictions(), kPredictions);
  const auto sequences = static_cast<int64_t>(reference.ids.size()) / kSequence;
  for (int64_t first = 0; first < sequences; first += 3)
    for (int32_t begin = 0; begin < kSequence; begin += kPredictions) {
      std::vector<tessera::EncoderText> texts;
      for (int64_t k = first; k < std::min(first + 3, sequences); ++k) {
        texts.push_back(textOf(reference, k));
        const auto end = static_cast<int32_t>(texts.back().ids.size());
        for (int32_t i = begin;
             i < std::min<int32_t>(begin + kPredictions, end); ++i)
          texts.back().positions.push_back(i);
      }
      encoder.run(texts);
      for (size_t k = 0; k < texts.size(); ++k) {
        const int64_t row = first + static_cast<int64_t>(k);
        for (size_t i = 0; i < texts[k].ids.size(); ++i)
          expectEqual(encoder.hidden(k, i), "hidden", row * kSequence + i);
        expectEqual(encoder.mean(k), "mean", row);
        for (size_t i = 0; i < texts[k].positions.size(); ++i)
          expectEqual(encoder.logProbabilities(k, i), "log_probabilities",
                      row * kSequence + texts[k].positions[i]);
      }
    }
}

std::string nameOf(const ::testing::TestParamInfo<Case> &info) {
  std::string name;
  for (const char *part : {std::get<0>(info.param), std::get<1>(info.param),
                           std::get<2>(info.param)})
    for (char c : std::string(part) + "_")
      name += std::isalnum(c) ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(
    Models, EncodingTest,
    ::testing::Values(Case{"bert", "f64", ""}, Case{"bert", "f64", "dp=2,tp=2"},
                      Case{"bert", "f64", "pp=2"},
                      Case{"bert", "f32", "cp=2,tp=2"},
                      Case{"bert-padded", "f64", ""},
                      Case{"bert-padded", "f64", "dp=3"},
                      Case{"bert-padded", "f64", "tp=4"},
                      Case{"bert-padded", "f32", "dp=2,tp=2"}),
    nameOf);

using EncoderOfPairTest = EncodingTest;

/// The weights are the whole model's, whose decoder nothing takes.
TEST_P(EncoderOfPairTest, IsWhatTransformersComputes) {
  auto [name, precision, mesh] = GetParam();
  tessera::Encoder encoder =
      encoderOf(artifactOf(name, precision, mesh),
                referencePath(name) + "/weights.safetensors");
  EXPECT_EQ(encoder.maxPredictions(), 0);
  EXPECT_EQ(encoder.maskToken(), -1);
  EXPECT_NE(encoder.notes().find("decoder.block.*.layer.*.layer_norm.weight"),
            std::string::npos)
      << encoder.notes();
  const auto sequences = static_cast<int64_t>(reference.ids.size()) / kSource;
  EXPECT_EQ(sequences, 8);
  for (int64_t first = 0; first < sequences; first += 3) {
    std::vector<tessera::EncoderText> texts;
    for (int64_t k = first; k < std::min(first + 3, sequences); ++k)
      texts.push_back(textOf(reference, k, kSource));
    encoder.run(texts);
    for (size_t k = 0; k < texts.size(); ++k) {
      const int64_t row = first + static_cast<int64_t>(k);
      for (size_t i = 0; i < texts[k].ids.size(); ++i)
        expectEqual(encoder.hidden(k, i), "hidden", row * kSource + i);
      expectEqual(encoder.mean(k), "mean", row);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, EncoderOfPairTest,
    ::testing::Values(Case{"t5", "f64", ""}, Case{"t5", "f64", "dp=2,tp=2"},
                      Case{"t5", "f64", "pp=2"}, Case{"t5", "f32", "cp=2"},
                      Case{"t5-v1.1", "f64", "tp=4"},
                      Case{"t5-padded", "f64", ""},
                      Case{"t5-padded", "f64", "cp=2,tp=2"},
                      Case{"t5-padded", "f32", "dp=3"}),
    nameOf);

void expectNear(const std::string &family, const std::string &artifact) {
  tessera::Encoder encoder =
      encoderOf(artifact, referencePath(family) + "/weights.safetensors");
  Reference reference = readReference(referencePath(family));
  auto wanted = readTensors(referencePath(family) + "/encoded.safetensors");
  encoder.run({textOf(reference, 0, sequenceOf(family))});
  Values found = encoder.hidden(0, 1), own(found.size());
  std::copy_n(wanted.at("hidden").begin() + found.size(), found.size(),
              own.begin());
  EXPECT_LE(relativeError(found, own), 5e-2) << family;
  EXPECT_GT(relativeError(found, own), 1e-5) << family;
}

/// bf16 has 8 bits; layers add to its rounding.
TEST(EncodingPrecisionTest, BFloat16IsNear) {
  expectNear("bert-padded", artifactOf("bert-padded", "bf16", "tp=2"));
}

/// Weights are within half of 1/127 of their channel's largest. `verify`
/// compares with the forward pass of what is stored.
TEST(EncodingPrecisionTest, Int8IsNear) {
  for (const char *family : {"bert-padded", "t5-padded"})
    expectNear(family, artifactOf(family, "f64", "tp=2", "int8"));
}

//===----------------------------------------------------------------------===//
// Refusals
//===----------------------------------------------------------------------===//

void expectRefused(const std::function<void()> &call, tsr_status status,
                   const std::string &message) {
  try {
    call();
    ADD_FAILURE() << "nothing is refused: " << message;
  } catch (const tessera::Exception &error) {
    EXPECT_EQ(error.status(), status);
    EXPECT_NE(std::string(error.what()).find(message), std::string::npos)
        << error.what();
  }
}

TEST(EncodingErrorTest, TextsThatDoNotFit) {
  tessera::Encoder encoder =
      encoderOf(artifactOf("bert-padded", "f64", ""), "");
  auto refuses = [&](const tessera::EncoderText &text,
                     const std::string &message) {
    expectRefused([&] { encoder.run({text}); }, TSR_INVALID_ARGUMENT, message);
  };
  refuses({{}, {}, {}}, "text 0 has no token");
  refuses({Tokens(9, 1), {}, {}},
          "text 0 has 9 tokens, the model is compiled for at most 8; cut the "
          "text, or compile with --seq-length 9");
  refuses({{1, 37}, {}, {}},
          "token 37 at position 1 of text 0 is not in [0, 37)");
  refuses({{1, -1}, {}, {}}, "token -1 at position 1");
  refuses({{1}, {2}, {}}, "token type 2 at position 0 of text 0 is not in [0, "
                          "2)");
  refuses({{1, 2}, {}, {2}},
          "position 2 of text 0, whose probabilities are wanted, is not in [0, "
          "2)");
  refuses({{1, 2}, {}, {0, 1, 0, 1}},
          "text 0 has 4 positions whose probabilities are wanted, the model is "
          "compiled for at most 3");
  expectRefused([&] { encoder.run({}); }, TSR_INVALID_ARGUMENT,
                "there is no text to encode");
  expectRefused(
      [&] {
        encoder.run(std::vector<tessera::EncoderText>(5, {{1}, {}, {}}));
      },
      TSR_INVALID_ARGUMENT,
      "there are 5 texts, the model is compiled for at most 4 at a time");
  encoder.run({{{1, 2}, {}, {1}}});
  expectRefused([&] { encoder.hidden(0, 2); }, TSR_INVALID_ARGUMENT,
                "text 0 of the last run had 2 tokens and no position 2");
  expectRefused([&] { encoder.mean(1); }, TSR_INVALID_ARGUMENT,
                "the last run had 1 texts and no text 1");
  expectRefused([&] { encoder.logProbabilities(0, 1); }, TSR_INVALID_ARGUMENT,
                "and none of number 1");
}

TEST(EncodingErrorTest, PaddingThatAttentionWouldSee) {
  tessera::Encoder encoder = encoderOf(artifactOf("bert", "f64", ""), "");
  expectRefused(
      [&] {
        encoder.run({{{1, 2}, {}, {}}});
      },
      TSR_INVALID_ARGUMENT,
      "text 0 has 2 tokens and would be padded to 8, but the model "
      "is compiled without --padding-mask");
}

TEST(EncodingErrorTest, ProbabilitiesOfAnEncoderWithoutAHead) {
  tessera::Encoder encoder = encoderOf(artifactOf("t5-padded", "f64", ""), "");
  expectRefused(
      [&] {
        encoder.run({{{1, 2}, {}, {1}}});
      },
      TSR_INVALID_ARGUMENT,
      "text 0 has 1 positions whose probabilities are wanted, but the model is "
      "an encoder without a head that predicts tokens; ask for none");
  encoder.run({{{1, 2}, {}, {}}});
  expectRefused([&] { encoder.logProbabilities(0, 0); }, TSR_INVALID_ARGUMENT,
                "and none of number 0");
}

TEST(EncodingErrorTest, OtherPrograms) {
  Build build;
  build.sequence = kSequence;
  std::string training = compileModel(referenceConfig("bert"), build);
  expectRefused([&] { encoderOf(training, ""); }, TSR_UNSUPPORTED,
                "the artifact has no program that encodes texts");
  tessera::Artifact encoding(artifactOf("bert", "f64", ""));
  tessera::Session session(encoding, settings());
  session.init();
  Tokens tokens(4 * (kSequence + 1), 1);
  expectRefused([&] { session.step(tokens); }, TSR_UNSUPPORTED,
                "the artifact encodes and cannot be trained");
}

TEST(EncodingErrorTest, WeightsOfAnotherModelOrWithoutNumbers) {
  std::string artifact = artifactOf("bert-padded", "f64", "");
  expectRefused(
      [&] {
        encoderOf(artifact, referencePath("llama") + "/weights.safetensors");
      },
      TSR_MISMATCH, "");
  tessera::Encoder encoder = encoderOf(artifact, "");
  Values bias(37, std::numeric_limits<double>::quiet_NaN());
  ASSERT_EQ(tsr_encoder_write(encoder.get(), "parameter",
                              "cls.predictions.bias", bias.data(), bias.size()),
            TSR_OK);
  encoder.run({{{1, 2}, {}, {}}}); // hidden states have no such bias
  expectRefused(
      [&] {
        encoder.run({{{1, 2}, {}, {1}}});
      },
      TSR_INVALID_ARGUMENT,
      "the logits of prediction 0 of text 0 are not finite");
  bias.resize(16);
  ASSERT_EQ(tsr_encoder_write(encoder.get(), "parameter",
                              "bert.embeddings.LayerNorm.bias", bias.data(),
                              bias.size()),
            TSR_OK);
  expectRefused(
      [&] {
        encoder.run({{{1, 2}, {}, {}}});
      },
      TSR_INVALID_ARGUMENT,
      "the hidden state of position 0 of text 0 is not finite");
  expectRefused([&] { encoder.mean(0); }, TSR_INVALID_ARGUMENT,
                "the last run had 0 texts and no text 0");
}

/// Poolings are of the hidden states of a text that is padded in its batch.
TEST(PoolingTest, IsThatOfSentenceTransformers) {
  tessera::Encoder encoder =
      encoderOf(artifactOf("bert-padded", "f64", ""),
                referencePath("bert-padded") + "/weights.safetensors");
  encoder.run({{{5, 36, 7}, {}, {}}, {{9, 2, 7, 11, 4}, {}, {}}});
  const size_t width = encoder.hiddenSize();
  const Values first = encoder.hidden(0, 0), second = encoder.hidden(0, 1),
               third = encoder.hidden(0, 2);
  EXPECT_GT(relativeError(first, third), 1e-3);
  auto expect = [&](tsr_pooling pooling, auto wanted) {
    const Values found = encoder.pooled(0, pooling);
    ASSERT_EQ(found.size(), width);
    for (size_t i = 0; i < width; ++i)
      EXPECT_NEAR(found[i], wanted(first[i], second[i], third[i]), 1e-14)
          << pooling;
  };
  expect(TSR_POOLING_MEAN,
         [](double a, double b, double c) { return (a + b + c) / 3; });
  expect(TSR_POOLING_CLS, [](double a, double, double) { return a; });
  expect(TSR_POOLING_LAST_TOKEN, [](double, double, double c) { return c; });
  expect(TSR_POOLING_MAX, [](double a, double b, double c) {
    return std::max({a, b, c});
  });
  expect(TSR_POOLING_MEAN_SQRT_LEN, [](double a, double b, double c) {
    return (a + b + c) / std::sqrt(3.0);
  });
  expect(TSR_POOLING_WEIGHTED_MEAN,
         [](double a, double b, double c) { return (a + 2 * b + 3 * c) / 6; });
  EXPECT_EQ(encoder.pooled(0, TSR_POOLING_MEAN), encoder.mean(0));
  expectRefused([&] { encoder.pooled(0, static_cast<tsr_pooling>(6)); },
                TSR_INVALID_ARGUMENT, "there is no pooling 6");
}

} // namespace
