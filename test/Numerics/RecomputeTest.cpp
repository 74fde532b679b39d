//===- RecomputeTest.cpp - computing again changes nothing ----------------===//
// A recomputed value has the bits of the one that is not kept: the same
// kernels, the same dropout masks. So has all that follows from it.
//===----------------------------------------------------------------------===//

#include "test/Numerics/Model.h"
#include "test/Numerics/Trainer.h"
#include <gtest/gtest.h>

using namespace tessera::test;

namespace {

struct Case {
  std::string name, mesh, precision;
  int64_t microBatches;
};

void PrintTo(const Case &c, std::ostream *out) { *out << c.name; }

class RecomputeTest : public ::testing::TestWithParam<Case> {};

Build buildOf(const Case &c) {
  Build build;
  build.mesh = c.mesh;
  build.precision = c.precision;
  build.microBatches = c.microBatches;
  return build;
}

void expectSameTraining(const std::string &found, const std::string &wanted) {
  Trainer again(found), kept(wanted);
  for (int step = 0; step < 3; ++step) {
    Tokens tokens = kept.randomTokens(step);
    tsr_step_result a = again.step(tokens), b = kept.step(tokens);
    EXPECT_EQ(a.loss, b.loss) << "step " << step;
    EXPECT_EQ(a.grad_norm, b.grad_norm) << "step " << step;
  }
  for (const char *role : {"parameter", "moment1", "moment2"})
    for (const TensorName &tensor : kept.tensors(role))
      EXPECT_EQ(again.read(tensor), kept.read(tensor))
          << tensor.role << " " << tensor.name;
}

TEST_P(RecomputeTest, EveryModeHasTheSameBits) {
  std::string config = smallModelWithDropout();
  Build build = buildOf(GetParam());
  std::string kept = compileModel(config, build);
  build.recompute = "selective";
  expectSameTraining(compileModel(config, build), kept);
  build.recompute = "full";
  expectSameTraining(compileModel(config, build), kept);
  build.recomputeLayers = 1;
  expectSameTraining(compileModel(config, build), kept);
  build.recomputeLayers = -1;
  build.recompute = "selective";
  build.flags = {{"layer-recompute", "0=none,1=full"}};
  expectSameTraining(compileModel(config, build), kept);
}

INSTANTIATE_TEST_SUITE_P(, RecomputeTest,
                         ::testing::Values(Case{"serial", "", "f32", 1},
                                           Case{"dp2_tp2", "dp=2,tp=2", "f32",
                                                2},
                                           Case{"bf16", "tp=2", "bf16", 1}),
                         [](const auto &info) { return info.param.name; });

} // namespace
