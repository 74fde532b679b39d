//===- MixedPrecisionTest.cpp - bf16 products train as f32 ones do --------===//

#include "test/Numerics/Model.h"
#include "test/Numerics/Trainer.h"
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

using namespace tessera::test;

namespace {

constexpr uint32_t kSteps = 40;

/// A bf16 number has 8 bits: products are off by 2^-9 of their terms, and the
/// loss by less, for the errors of many terms differ in sign. 4e-4 of the loss
/// was measured over 40 steps; a lost term shows above 1e-2.
constexpr double kTolerance = 4e-3;

std::string compileFor(const std::string &mesh, const std::string &precision,
                       int64_t microBatches = 1) {
  Build build;
  build.mesh = mesh;
  build.precision = precision;
  build.microBatches = microBatches;
  return compileModel(smallModelWithDropout(), build);
}

Values train(Trainer &trainer, uint32_t first, uint32_t steps) {
  Values losses;
  for (uint32_t step = first; step < first + steps; ++step)
    losses.push_back(trainer.step(trainer.learnableTokens(step)).loss);
  return losses;
}

Values lossesOf(const std::string &artifact) {
  Trainer trainer(artifact);
  trainer.setSchedule(1e-3, 1e-3, kSteps);
  return train(trainer, 0, kSteps);
}

void expectClose(const Values &found, const Values &wanted) {
  for (size_t step = 0; step < wanted.size(); ++step)
    EXPECT_NEAR(found[step] / wanted[step], 1, kTolerance) << "step " << step;
}

TEST(MixedPrecisionTest, LossesTrackF32) {
  Values wanted = lossesOf(compileFor("", "f32"));
  Values found = lossesOf(compileFor("", "bf16"));
  expectClose(found, wanted);
  EXPECT_NE(found, wanted) << "nothing was rounded";
  EXPECT_LT(wanted.back(), 0.9 * wanted.front()) << "nothing was learnt";
}

TEST(MixedPrecisionTest, ParallelLossesTrackSerialOnes) {
  Values wanted = lossesOf(compileFor("", "bf16"));
  for (const char *mesh : {"tp=2", "dp=2", "dp=2,tp=2"}) {
    SCOPED_TRACE(mesh);
    expectClose(lossesOf(compileFor(mesh, "bf16")), wanted);
  }
  SCOPED_TRACE("micro-batches");
  expectClose(lossesOf(compileFor("dp=2", "bf16", 2)), wanted);
}

/// The parameters of a checkpoint are those that the optimizer updates: f32,
/// with bits that bf16 does not have.
TEST(MixedPrecisionTest, ParametersAreF32AndTheSameOnEveryMesh) {
  Trainer full(compileFor("", "f32")), mixed(compileFor("tp=2", "bf16"));
  for (const TensorName &tensor : full.tensors("parameter"))
    EXPECT_EQ(mixed.read(tensor), full.read(tensor)) << tensor.name;
  Values table = mixed.read(mixed.tensors("parameter").front());
  EXPECT_TRUE(std::any_of(table.begin(), table.end(), [](double x) {
    return std::fmod(std::fabs(x), std::exp2(std::ilogb(x) - 7)) != 0;
  })) << "the parameters are rounded";
}

TEST(MixedPrecisionTest, ResumesBitForBit) {
  std::string artifact = compileFor("dp=2", "bf16");
  std::string directory = scratchPath("checkpoint");
  Trainer whole(artifact), resumed(artifact);
  whole.setSchedule(1e-3, 1e-3, kSteps);
  train(whole, 0, 10);
  whole.save(directory);
  Values wanted = train(whole, 10, 10);
  resumed.load(directory);
  resumed.setSchedule(1e-3, 1e-3, kSteps);
  EXPECT_EQ(train(resumed, 10, 10), wanted);
  for (const TensorName &tensor : whole.tensors("parameter"))
    EXPECT_EQ(resumed.read(tensor), whole.read(tensor)) << tensor.name;
}

/// Checkpoints do not depend on the precision: an f32 run goes on in bf16.
TEST(MixedPrecisionTest, LoadsACheckpointOfAnF32Run) {
  std::string directory = scratchPath("checkpoint");
  Trainer full(compileFor("", "f32")), mixed(compileFor("tp=2", "bf16"));
  train(full, 0, 5);
  full.save(directory);
  mixed.load(directory);
  for (const TensorName &tensor : full.tensors("parameter"))
    EXPECT_EQ(mixed.read(tensor), full.read(tensor)) << tensor.name;
  expectClose(train(mixed, 5, 5), train(full, 5, 5));
}

} // namespace
