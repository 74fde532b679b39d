//===- PipelineTest.cpp - stages do not change the training ---------------===//
// Every schedule, with more and with fewer micro-batches than stages, alone and
// with other strategies, against the serial program: losses, gradient norms,
// parameters and moments. In f64, where only the order of sums differs.
//===----------------------------------------------------------------------===//

#include "test/Numerics/Model.h"
#include "test/Numerics/Trainer.h"
#include "llvm/Support/FormatVariadic.h"
#include <gtest/gtest.h>

using namespace tessera::test;

namespace {

constexpr int kSteps = 2;
constexpr double kTolerance = 1e-9;

struct Case {
  std::string mesh, schedule;
  int64_t microBatches, virtualStages = 1;
  std::string recompute = "none";
  int64_t zero = 0;
  bool sequenceParallel = false;
};

/// Writes a config of three layers: eight segments, enough for pp=4 with two
/// virtual stages.
std::string configOf(bool tied) {
  return scratchFile(
      "config.json",
      llvm::formatv(
          R"({{"model_type": "gpt2", "n_layer": 3, "n_head": 2, "n_embd": 16,
               "n_positions": 8, "vocab_size": 31, "resid_pdrop": 0.1,
               "embd_pdrop": 0.1, "attn_pdrop": 0.1,
               "tie_word_embeddings": {0}})",
          tied ? "true" : "false"));
}

Build buildOf(const Case &c) {
  Build build;
  build.mesh = c.mesh;
  build.schedule = c.schedule;
  build.virtualStages = c.virtualStages;
  build.microBatches = c.microBatches;
  build.recompute = c.recompute;
  build.zero = c.zero;
  build.sequenceParallel = c.sequenceParallel;
  return build;
}

/// The results of a run.
struct Result {
  std::vector<double> losses, norms;
  std::vector<std::pair<TensorName, Values>> state;
};

Result train(const std::string &artifact) {
  SessionSettings settings;
  settings.poison = true;
  Trainer trainer(artifact, settings);
  Result result;
  for (int step = 0; step < kSteps; ++step) {
    tsr_step_result done = trainer.step(trainer.randomTokens(step));
    result.losses.push_back(done.loss);
    result.norms.push_back(done.grad_norm);
  }
  for (const char *role : {"parameter", "moment1", "moment2"})
    for (const TensorName &tensor : trainer.tensors(role))
      result.state.push_back({tensor, trainer.read(tensor)});
  return result;
}

void expectSame(const Result &found, const Result &wanted) {
  EXPECT_LE(relativeError(found.losses, wanted.losses), kTolerance);
  EXPECT_LE(relativeError(found.norms, wanted.norms), kTolerance);
  for (const auto &[tensor, values] : wanted.state) {
    auto same = std::find_if(found.state.begin(), found.state.end(),
                             [&](const auto &other) {
                               return other.first.role == tensor.role &&
                                      other.first.name == tensor.name;
                             });
    ASSERT_NE(same, found.state.end()) << tensor.role << " " << tensor.name;
    EXPECT_LE(relativeError(same->second, values, 1e-3), kTolerance)
        << tensor.role << " " << tensor.name;
  }
}

void expectSerial(bool tied, const std::vector<Case> &cases) {
  std::string config = configOf(tied);
  Result serial = train(compileModel(config, Build()));
  for (const Case &c : cases) {
    SCOPED_TRACE(c.mesh + " " + c.schedule +
                 " m=" + std::to_string(c.microBatches));
    std::string artifact = compileModel(config, buildOf(c));
    if (!artifact.empty())
      expectSame(train(artifact), serial);
  }
}

TEST(PipelineTest, TwoStages) {
  expectSerial(true, {{"pp=2", "gpipe", 1},
                      {"pp=2", "1f1b", 4},
                      {"pp=2", "zero-bubble", 2},
                      {"pp=2", "interleaved", 2, 2}});
}

/// The head is a parameter of the last stage alone.
TEST(PipelineTest, UntiedEmbeddings) {
  expectSerial(false, {{"pp=2", "1f1b", 2}, {"pp=4", "zero-bubble", 4}});
}

TEST(PipelineTest, FewerMicroBatchesThanStages) {
  expectSerial(true, {{"pp=4", "gpipe", 2},
                      {"pp=4", "1f1b", 1},
                      {"pp=4", "zero-bubble", 2},
                      {"pp=4", "interleaved", 2, 2}});
}

TEST(PipelineTest, MoreMicroBatchesThanStages) {
  expectSerial(true, {{"pp=4", "1f1b", 8}, {"pp=4", "interleaved", 8, 2}});
}

TEST(PipelineTest, WithDataAndTensorParallelism) {
  expectSerial(true, {{"pp=2,dp=2", "1f1b", 2},
                      {"dp=2,pp=2", "gpipe", 2},
                      {"pp=2,tp=2", "zero-bubble", 2},
                      {"pp=2,dp=2,tp=2", "interleaved", 4, 2}});
}

TEST(PipelineTest, WithRecomputationZeroAndSequenceParallelism) {
  expectSerial(true, {{"pp=2", "1f1b", 4, 1, "full"},
                      {"pp=2", "zero-bubble", 2, 1, "selective"},
                      {"pp=2,dp=2", "1f1b", 2, 1, "none", 1},
                      {"pp=2,dp=2", "1f1b", 2, 1, "none", 3},
                      {"pp=2,tp=2", "1f1b", 2, 1, "none", 0, true}});
}

} // namespace
