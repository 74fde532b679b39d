//===- GradientTest.cpp - gradients against finite differences ------------===//
// Every parameter of the serial program in f64, for the parts of the model that
// the configs below choose. Dropout's mask is a function of seed and step: all
// losses are those of step 0, reloaded from one checkpoint.
//===----------------------------------------------------------------------===//

#include "test/Numerics/Model.h"
#include "test/Numerics/Trainer.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <random>

using namespace tessera::test;

namespace {

struct Config {
  const char *name, *activation;
  double residual, embedding, attention; ///< Dropout.
  const char *option;                    ///< One key more, false.
};

const Config kConfigs[] = {
    {"GeluTanh", "gelu_new", 0, 0, 0, "scale_attn_by_inverse_layer_idx"},
    {"GeluUntied", "gelu", 0, 0, 0, "tie_word_embeddings"},
    {"ReluUnscaled", "relu", 0, 0, 0, "scale_attn_weights"},
    {"Dropout", "gelu_new", 0.3, 0.2, 0, "scale_attn_by_inverse_layer_idx"},
    {"AttentionDropout", "gelu_new", 0, 0, 0.25,
     "scale_attn_by_inverse_layer_idx"}};

std::string textOf(const Config &config) {
  return llvm::formatv(
      R"({{"model_type": "gpt2", "n_layer": 2, "n_head": 2, "n_embd": 12,
           "n_positions": 10, "vocab_size": 13, "activation_function": "{0}",
           "resid_pdrop": {1}, "embd_pdrop": {2}, "attn_pdrop": {3},
           "{4}": false})",
      config.activation, config.residual, config.embedding, config.attention,
      config.option);
}

class GradientTest : public ::testing::TestWithParam<Config> {
protected:
  void SetUp() override;
  void makeParametersRandom();
  double lossWith(const TensorName &tensor, Values values);
  double slope(const TensorName &tensor, size_t index, double step);
  void compare(const TensorName &tensor);

  static constexpr int kSamples = 3;
  static constexpr double kStep = 1e-5;
  /// Central differences err by h^2 f''' / 6 and by eps f / h: 1e-10 each where
  /// derivatives are of size 1.
  static constexpr double kTolerance = 1e-6;

  std::unique_ptr<Trainer> trainer;
  std::string checkpoint = scratchPath("start");
  std::map<std::string, Values> start, gradients;
  Tokens tokens;
  std::mt19937 random{7};
};

/// Two positions less than the model has: the last rows of the table have
/// gradient 0.
void GradientTest::SetUp() {
  Build build;
  build.sequence = 8;
  build.batch = 4;
  build.clip = 0;
  std::string config = scratchFile("config.json", textOf(GetParam()));
  std::string path = compileModel(config, build);
  ASSERT_FALSE(path.empty());
  SessionSettings settings;
  settings.threads = 1; // many steps of microseconds
  trainer = std::make_unique<Trainer>(path, settings);
  tokens = trainer->randomTokens(3);
  makeParametersRandom();
  trainer->save(checkpoint);
}

/// Biases and norm weights too: at their initial values some terms vanish.
void GradientTest::makeParametersRandom() {
  std::normal_distribution<double> normal;
  for (const TensorName &tensor : trainer->tensors("parameter")) {
    Values values = trainer->read(tensor);
    for (double &value : values)
      value += 0.3 * normal(random);
    trainer->write(tensor, values);
    start[tensor.name] = values;
  }
}

/// Computes the loss by a step with rate 0, which leaves the parameters as they
/// are.
double GradientTest::lossWith(const TensorName &tensor, Values values) {
  trainer->load(checkpoint);
  trainer->setSchedule(0, 0, 1);
  trainer->write(tensor, values);
  tsr_step_result result = trainer->step(tokens);
  EXPECT_EQ(result.step, 0);
  return result.loss;
}

double GradientTest::slope(const TensorName &tensor, size_t index,
                           double step) {
  Values up = start[tensor.name], down = up;
  up[index] += step;
  down[index] -= step;
  return (lossWith(tensor, up) - lossWith(tensor, down)) / (2 * step);
}

/// Compares gradients, relative to the tensor's largest, or 1e-3 of the size of
/// losses. If a kink of relu lies within the step, a smaller one avoids it.
void GradientTest::compare(const TensorName &tensor) {
  const Values &gradient = gradients[tensor.name];
  double largest = 1e-3;
  for (double g : gradient)
    largest = std::max(largest, std::fabs(g));
  for (int sample = 0; sample < kSamples; ++sample) {
    size_t index = random() % gradient.size();
    double found = slope(tensor, index, kStep);
    if (std::fabs(found - gradient[index]) > kTolerance * largest)
      found = slope(tensor, index, kStep / 16);
    EXPECT_NEAR(found, gradient[index], kTolerance * largest)
        << tensor.name << " element " << index;
  }
}

TEST_P(GradientTest, EveryParameter) {
  std::vector<TensorName> parameters = trainer->tensors("parameter");
  tsr_step_result first = trainer->step(tokens);
  double squares = 0;
  for (const TensorName &p : parameters) {
    Values moment = trainer->read({"moment1", p.name, p.elements});
    for (double &m : moment) {
      m /= 0.1; // it is (1 - beta1) of the gradient
      squares += m * m;
    }
    gradients[p.name] = moment;
  }
  EXPECT_NEAR(first.grad_norm / std::sqrt(squares), 1, 1e-12);
  for (const TensorName &p : parameters)
    compare(p);
}

std::string nameOf(const ::testing::TestParamInfo<Config> &info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Models, GradientTest, ::testing::ValuesIn(kConfigs),
                         nameOf);

} // namespace
