//===- FormulasTest.cpp - kernels beside products, sums and maps ----------===//
// A step whose attention, norms and rotations are formulas is the step with
// kernels. One that computes anything else is not: a kernel that was wrong in
// this way would be seen.
//===----------------------------------------------------------------------===//

#include "test/Numerics/Model.h"
#include "test/Numerics/Trainer.h"
#include <gtest/gtest.h>

using namespace tessera::test;

namespace {

/// One key of a config and its value.
using Change = std::pair<std::string, std::string>;

/// Writes the config of a model with grouped heads, rotations, a window and RMS
/// norms.
std::string mistralWith(const Change &change = {}) {
  std::vector<Change> keys = {
      {"model_type", "\"mistral\""}, {"vocab_size", "23"},
      {"hidden_size", "16"},         {"intermediate_size", "12"},
      {"num_hidden_layers", "1"},    {"num_attention_heads", "4"},
      {"num_key_value_heads", "2"},  {"max_position_embeddings", "8"},
      {"hidden_act", "\"silu\""},    {"sliding_window", "4"},
      {"rms_norm_eps", "1e-5"},      {"rope_theta", "10000.0"}};
  std::string text;
  for (const auto &[key, value] : keys)
    text += (text.empty() ? "{\"" : ", \"") + key +
            "\": " + (key == change.first ? change.second : value);
  return scratchFile("mistral-" + change.first + ".json", text + "}");
}

Build buildWith(bool formulas) {
  Build build;
  build.batch = 2;
  build.decomposesLayers = formulas;
  return build;
}

/// Returns the largest relative error of the first moments, which follow from
/// gradients, after two steps of each program.
double differenceOf(const std::string &found, const std::string &wanted) {
  Trainer formulas(found), kernels(wanted);
  double worst = 0;
  for (int step = 0; step < 2; ++step) {
    Tokens tokens = kernels.randomTokens(step);
    formulas.step(tokens);
    kernels.step(tokens);
  }
  for (const TensorName &tensor : kernels.tensors("moment1"))
    worst = std::max(
        worst, relativeError(formulas.read(tensor), kernels.read(tensor)));
  return worst;
}

TEST(Formulas, AreTheKernels) {
  std::string config = mistralWith();
  EXPECT_LT(differenceOf(compileModel(config, buildWith(/*formulas=*/true)),
                         compileModel(config, buildWith(/*formulas=*/false))),
            1e-12);
}

TEST(Formulas, SeeWhatIsWrong) {
  std::string kernels =
      compileModel(mistralWith(), buildWith(/*formulas=*/false));
  for (const Change &change :
       {Change{"sliding_window", "3"}, Change{"rms_norm_eps", "2e-5"},
        Change{"rope_theta", "10100.0"}}) {
    std::string wrong =
        compileModel(mistralWith(change), buildWith(/*formulas=*/true));
    constexpr double allowed = 1e-9; // Allowed by verify, in f64.
    EXPECT_GT(differenceOf(wrong, kernels), allowed) << change.first;
  }
}

} // namespace
