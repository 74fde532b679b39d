//===- CudaEncodingTest.cpp - programs that encode, on the device ---------===//
// Texts are encoded by the device as CudaProgramTest.cpp does it with training
// steps: the results have the bits of the same kernels run by the CPU's
// runtime.
//===----------------------------------------------------------------------===//

#include "tessera/encoder.hpp"
#include "test/Numerics/Model.h"
#include "test/Numerics/Reference.h"
#include <gtest/gtest.h>

using namespace tessera::test;

namespace {

constexpr int64_t kBatch = 4, kLength = 8, kPredictions = 3;

struct Case {
  const char *name, *model, *precision, *mesh;
};

std::string compileFor(const Case &test, const char *device) {
  Build build{Strategy{test.mesh}};
  build.precision = test.precision;
  build.batch = kBatch;
  build.sequence = kLength;
  build.paddingMask = true;
  build.emulateGrid = true;
  build.device = device;
  build.flags = {{"programs", "encode"}};
  if (test.model[0] == 'b')
    build.flags.emplace_back("max-predictions", std::to_string(kPredictions));
  return compileModel(referenceConfig(test.model), build);
}

tessera::Encoder encoderOn(const Case &test, const char *device) {
  tsr_session_options options = tessera::sessionOptions();
  options.device = device;
  options.threads = 1; // the stand-in multiplies with one thread
  return tessera::Encoder(tessera::Artifact(compileFor(test, device)), "",
                          options);
}

/// Texts of 1 to `kLength` tokens, others in each run.
std::vector<tessera::EncoderText> textsOf(int64_t run, bool predicts) {
  std::vector<tessera::EncoderText> texts;
  for (int64_t k = 0; k < kBatch; ++k) {
    tessera::EncoderText text;
    for (int64_t i = 0; i <= (k * 3 + run) % kLength; ++i)
      text.ids.push_back(static_cast<int32_t>((7 * i + 5 * k + run) % 31));
    if (predicts)
      text.positions = {0, static_cast<int32_t>(text.ids.size() - 1)};
    texts.push_back(text);
  }
  return texts;
}

class CudaEncodingTest : public testing::TestWithParam<Case> {};

/// On one rank the second run is captured, the third only launched.
TEST_P(CudaEncodingTest, RunsAreThoseOfTheCpu) {
  tessera::Encoder cpu = encoderOn(GetParam(), "cpu");
  tessera::Encoder device = encoderOn(GetParam(), "cuda");
  const bool predicts = cpu.maxPredictions() > 0;
  EXPECT_EQ(predicts, GetParam().model[0] == 'b');
  for (int64_t run = 0; run < 3; ++run) {
    const std::vector<tessera::EncoderText> texts = textsOf(run, predicts);
    cpu.run(texts);
    device.run(texts);
    for (size_t k = 0; k < texts.size(); ++k) {
      for (size_t i = 0; i < texts[k].ids.size(); ++i)
        EXPECT_EQ(device.hidden(k, i), cpu.hidden(k, i))
            << "run " << run << ", text " << k << ", position " << i;
      for (size_t i = 0; i < texts[k].positions.size(); ++i)
        EXPECT_EQ(device.logProbabilities(k, i), cpu.logProbabilities(k, i))
            << "run " << run << ", text " << k;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, CudaEncodingTest,
    testing::Values(Case{"bert_f32", "bert-padded", "f32", ""},
                    Case{"bert_bf16_dp2tp2", "bert-padded", "bf16",
                         "dp=2,tp=2"},
                    Case{"bert_f32_pp2", "bert-padded", "f32", "pp=2"},
                    Case{"bert_f32_cp2", "bert-padded", "f32", "cp=2"},
                    Case{"t5_f32_tp2", "t5-padded", "f32", "tp=2"}),
    [](const auto &info) { return std::string(info.param.name); });

} // namespace
