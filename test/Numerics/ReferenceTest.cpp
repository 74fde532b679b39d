//===- ReferenceTest.cpp - compiled programs against PyTorch --------------===//
// Two steps of a tiny model with fixed weights on several meshes: loss,
// gradient norm, gradients, moments and parameters equal what an independent
// program (reference/make_reference.py, GPT-2) or transformers
// (make_transformers_reference.py, the other families) computed in f64.
//===----------------------------------------------------------------------===//

#include "test/Numerics/Reference.h"
#include "test/Numerics/Model.h"
#include <cmath>
#include <gtest/gtest.h>
#include <optional>
#include <tuple>

using namespace tessera::test;

namespace {

/// Directory below REFERENCE_DIRECTORY, precision, mesh, micro-batches.
using Case = std::tuple<const char *, const char *, const char *, int>;

/// Makes a name that a test may have.
std::string lettersOf(const std::string &text) {
  std::string letters;
  for (char c : text)
    if (std::isalnum(c))
      letters += c;
  return letters;
}

std::string caseName(const ::testing::TestParamInfo<Case> &info) {
  auto [family, precision, mesh, micro] = info.param;
  return lettersOf(*family ? family : "gpt2") + "_" + precision + "_" +
         lettersOf(*mesh ? mesh : "serial") + "_micro" + std::to_string(micro);
}

/// Elements [begin, end) of a parameter.
struct Part {
  size_t begin, end;
};

class ReferenceTest : public ::testing::TestWithParam<Case> {
protected:
  void run(bool keepValues);
  void compareStep(Trainer &trainer, size_t step);
  void compare(const TensorName &tensor, const Values &found,
               const Values &wanted, size_t step);
  void compareNoise(Part part, const Values &found, const Values &wanted,
                    size_t step);

  bool isDouble() const {
    return std::string(std::get<1>(GetParam())) == "f64";
  }

  /// The tolerance is relative to a tensor's largest entry. f64: sums in
  /// another order. f32: its rounding unit (6e-8) times sums of up to 128 terms
  /// through two layers; the second step also sees the parameters that the
  /// first left (below).
  double tolerance() const { return isDouble() ? 1e-9 : 1e-4; }

  /// Returns the tolerance for the loss and the gradient's norm, where rounding
  /// errors average out.
  double scalarTolerance() const { return isDouble() ? 1e-12 : 1e-5; }

  /// AdamW divides a gradient by its own size, so that in f32 an element whose
  /// gradient is a few hundred rounding errors moves by another part of lr.
  double parameterTolerance() const { return isDouble() ? 1e-9 : 5e-4; }

  std::string directory =
      std::string(REFERENCE_DIRECTORY) + "/" + std::get<0>(GetParam());
  Reference reference = readReference(directory);
};

/// Returns the part of a gradient that is 0 in exact arithmetic: a bias of the
/// keys shifts all scores of a query alike (not where rotations turn it).
std::optional<Part> zeroGradientPart(const std::string &name, size_t elements) {
  if (name.find("c_attn.bias") != std::string::npos)
    return Part{elements / 3, 2 * elements / 3};
  if (name.find("self.key.bias") != std::string::npos)
    return Part{0, elements};
  return std::nullopt;
}

/// AdamW divides the rounding noise by its own size: in f32 all that holds is
/// that a step moves an element by at most about lr.
void ReferenceTest::compareNoise(Part part, const Values &found,
                                 const Values &wanted, size_t step) {
  double bound = 0;
  for (size_t t = 0; t <= step; ++t)
    bound += 1.5 * reference.steps[t].lr;
  for (size_t k = part.begin; k < part.end; ++k)
    EXPECT_LE(std::fabs(found[k] - wanted[k]), bound) << "key bias " << k;
}

void ReferenceTest::compare(const TensorName &tensor, const Values &found,
                            const Values &wanted, size_t step) {
  SCOPED_TRACE(tensor.role + " " + tensor.name + " after step " +
               std::to_string(step + 1));
  ASSERT_EQ(found.size(), wanted.size());
  bool isParameter = tensor.role == "parameter";
  double allowed = isParameter ? parameterTolerance() : tolerance();
  std::optional<Part> zero = zeroGradientPart(tensor.name, found.size());
  bool onlyNoise = zero && zero->end - zero->begin == found.size();
  if (!isParameter || isDouble() || !zero) {
    // A whole tensor of zeros is compared with 1.
    double floor = onlyNoise && !isParameter ? 1.0 : 1e-300;
    EXPECT_LE(relativeError(found, wanted, floor), allowed);
    return;
  }
  compareNoise(*zero, found, wanted, step);
  Values others = found;
  for (size_t k = zero->begin; k < zero->end; ++k)
    others[k] = wanted[k];
  EXPECT_LE(relativeError(others, wanted), allowed);
}

void ReferenceTest::compareStep(Trainer &trainer, size_t step) {
  std::vector<TensorName> parameters = trainer.tensors("parameter");
  EXPECT_EQ(4 * parameters.size(), reference.tensors.size());
  for (const TensorName &p : parameters) {
    TensorName m = {"moment1", p.name, p.elements};
    TensorName v = {"moment2", p.name, p.elements};
    compare(p, trainer.read(p), reference.parameter(step, p.name), step);
    compare(m, trainer.read(m), reference.moment1(step, p.name), step);
    compare(v, trainer.read(v), reference.moment2(step, p.name), step);
  }
  for (const TensorName &g : trainer.tensors("gradient"))
    compare(g, trainer.read(g), reference.gradient(step, g.name), step);
}

void ReferenceTest::run(bool keepValues) {
  auto [family, precision, mesh, micro] = GetParam();
  Build build;
  build.mesh = mesh;
  build.precision = precision;
  build.microBatches = micro;
  build.keepValues = keepValues;
  build.target = reference.target;
  build.ignoresLabels = reference.ignoresLabels;
  build.documentMask = reference.documentMask;
  build.paddingMask = reference.paddingMask;
  std::string path = compileModel(directory + "/config.json", build);
  ASSERT_FALSE(path.empty());
  Trainer trainer(path);
  trainer.loadWeights(directory + "/weights.safetensors");
  trainer.setSchedule(reference.lr, reference.minLr, reference.totalSteps);
  if (keepValues) {
    EXPECT_EQ(trainer.tensors("gradient").size(),
              trainer.tensors("parameter").size());
  }
  ASSERT_EQ(reference.steps.size(), 2u);
  for (size_t step = 0; step < reference.steps.size(); ++step) {
    const Reference::Step &wanted = reference.steps[step];
    tsr_step_result found =
        reference.ids.empty()
            ? trainer.step(reference.tokens)
            : trainer.step(reference.ids, reference.labels,
                           reference.tokenTypes, reference.segments);
    EXPECT_NEAR(found.loss / wanted.loss, 1, scalarTolerance());
    EXPECT_NEAR(found.grad_norm / wanted.gradNorm, 1, scalarTolerance());
    EXPECT_NEAR(found.lr / wanted.lr, 1, 1e-15);
    compareStep(trainer, step);
  }
}

/// The program that trains: gradients show in the first moments.
TEST_P(ReferenceTest, TwoSteps) { run(false); }

/// The program of `verify`, which keeps the gradients themselves.
using KeptGradientsTest = ReferenceTest;
TEST_P(KeptGradientsTest, TwoSteps) { run(true); }

/// Weights that transformers wrote come out unchanged: names, shapes, every
/// bit.
class WeightsTest : public ::testing::TestWithParam<const char *> {};

TEST_P(WeightsTest, RoundTrip) {
  std::string directory = std::string(REFERENCE_DIRECTORY) + "/" + GetParam();
  Build build;
  build.mesh = "dp=2,tp=2";
  build.precision = "f32";
  Trainer trainer(compileModel(directory + "/config.json", build));
  trainer.loadWeights(directory + "/weights.safetensors");
  std::string saved = scratchPath("saved");
  trainer.save(saved);
  expectSameTensors(saved + "/step-00000000/model.safetensors",
                    directory + "/weights.safetensors");
}

INSTANTIATE_TEST_SUITE_P(Families, WeightsTest,
                         ::testing::Values("bert", "llama", "mistral",
                                           "mixtral", "qwen2", "t5", "t5-v1.1"),
                         [](const auto &info) {
                           return lettersOf(info.param);
                         });

const auto kGPT2 = ::testing::Values("");
const auto kMeshes = ::testing::Values("", "tp=2", "tp=4", "dp=2", "dp=2,tp=2");
const auto kParts = ::testing::Values(1, 2);

INSTANTIATE_TEST_SUITE_P(Meshes, ReferenceTest,
                         ::testing::Combine(kGPT2,
                                            ::testing::Values("f64", "f32"),
                                            kMeshes, kParts),
                         caseName);
INSTANTIATE_TEST_SUITE_P(Meshes, KeptGradientsTest,
                         ::testing::Combine(kGPT2, ::testing::Values("f64"),
                                            kMeshes, kParts),
                         caseName);

INSTANTIATE_TEST_SUITE_P(
    Bert, ReferenceTest,
    ::testing::Combine(::testing::Values("bert"),
                       ::testing::Values("f64", "f32"),
                       ::testing::Values("", "tp=4", "dp=2,tp=2"), kParts),
    caseName);
INSTANTIATE_TEST_SUITE_P(Bert, KeptGradientsTest,
                         ::testing::Combine(::testing::Values("bert"),
                                            ::testing::Values("f64"),
                                            ::testing::Values("dp=2,tp=2"),
                                            kParts),
                         caseName);

/// The model has 2 key heads with 4 query heads each: tp=4 splits the query
/// heads.
INSTANTIATE_TEST_SUITE_P(
    Llama, ReferenceTest,
    ::testing::Combine(::testing::Values("llama"),
                       ::testing::Values("f64", "f32"),
                       ::testing::Values("", "tp=2", "tp=4", "dp=2,tp=2"),
                       kParts),
    caseName);
INSTANTIATE_TEST_SUITE_P(
    Llama, KeptGradientsTest,
    ::testing::Combine(::testing::Values("llama"), ::testing::Values("f64"),
                       ::testing::Values("tp=4", "dp=2,tp=2"), kParts),
    caseName);
/// v1.0: one table, ReLU; v1.1: gated, a head of its own, heads that together
/// are larger than the hidden size.
INSTANTIATE_TEST_SUITE_P(
    T5, ReferenceTest,
    ::testing::Combine(::testing::Values("t5", "t5-v1.1"),
                       ::testing::Values("f64"),
                       ::testing::Values("", "tp=4", "dp=2,tp=2", "cp=2"),
                       kParts),
    caseName);
INSTANTIATE_TEST_SUITE_P(T5Single, ReferenceTest,
                         ::testing::Combine(::testing::Values("t5-v1.1"),
                                            ::testing::Values("f32"),
                                            ::testing::Values("", "dp=2,tp=2"),
                                            ::testing::Values(2)),
                         caseName);
INSTANTIATE_TEST_SUITE_P(T5, KeptGradientsTest,
                         ::testing::Combine(::testing::Values("t5", "t5-v1.1"),
                                            ::testing::Values("f64"),
                                            ::testing::Values("dp=2,tp=2"),
                                            kParts),
                         caseName);
INSTANTIATE_TEST_SUITE_P(LikeLlama, ReferenceTest,
                         ::testing::Combine(::testing::Values("mistral",
                                                              "qwen2"),
                                            ::testing::Values("f64"),
                                            ::testing::Values("", "dp=2,tp=2"),
                                            ::testing::Values(2)),
                         caseName);

/// Queries see 3 of 8 keys in both layers, or 5 in the second.
INSTANTIATE_TEST_SUITE_P(
    Window, ReferenceTest,
    ::testing::Combine(::testing::Values("mistral-window", "qwen2-window"),
                       ::testing::Values("f64"),
                       ::testing::Values("", "tp=2", "cp=2", "dp=2,cp=2"),
                       ::testing::Values(1, 2)),
    caseName);
INSTANTIATE_TEST_SUITE_P(WindowSingle, ReferenceTest,
                         ::testing::Combine(::testing::Values("mistral-window",
                                                              "qwen2-window"),
                                            ::testing::Values("f32"),
                                            ::testing::Values("", "dp=2,cp=2"),
                                            ::testing::Values(2)),
                         caseName);

/// Attention stays within documents, or sees no padding: of a sequence, of a
/// source and of a target.
INSTANTIATE_TEST_SUITE_P(
    Masks, ReferenceTest,
    ::testing::Combine(::testing::Values("gpt2-packed", "llama-packed",
                                         "bert-padded", "t5-padded"),
                       ::testing::Values("f64"),
                       ::testing::Values("", "dp=2,tp=2", "cp=2"),
                       ::testing::Values(2)),
    caseName);
INSTANTIATE_TEST_SUITE_P(
    MasksSingle, ReferenceTest,
    ::testing::Combine(::testing::Values("llama-packed", "bert-padded"),
                       ::testing::Values("f32"), ::testing::Values("dp=2,cp=2"),
                       ::testing::Values(1)),
    caseName);

/// Labels of prompts and padding are ignored; of a fourth of the batch all are.
INSTANTIATE_TEST_SUITE_P(
    Answers, ReferenceTest,
    ::testing::Combine(::testing::Values("llama-answers"),
                       ::testing::Values("f64"),
                       ::testing::Values("", "tp=2", "dp=2,tp=2", "dp=4",
                                         "cp=2", "pp=2", "pp=2,dp=2"),
                       ::testing::Values(1, 4)),
    caseName);
INSTANTIATE_TEST_SUITE_P(AnswersSingle, ReferenceTest,
                         ::testing::Combine(::testing::Values("llama-answers"),
                                            ::testing::Values("f32"),
                                            ::testing::Values("", "pp=2,dp=2"),
                                            ::testing::Values(4)),
                         caseName);
INSTANTIATE_TEST_SUITE_P(Answers, KeptGradientsTest,
                         ::testing::Combine(::testing::Values("llama-answers"),
                                            ::testing::Values("f64"),
                                            ::testing::Values("dp=2,tp=2"),
                                            ::testing::Values(1, 4)),
                         caseName);

/// Lookups of the padding token have no gradient, while the tied head's stays.
INSTANTIATE_TEST_SUITE_P(
    PaddingRow, ReferenceTest,
    ::testing::Combine(::testing::Values("llama-padding"),
                       ::testing::Values("f64"),
                       ::testing::Values("", "tp=2", "dp=2,tp=2", "cp=2",
                                         "pp=2,dp=2"),
                       ::testing::Values(2)),
    caseName);
INSTANTIATE_TEST_SUITE_P(PaddingRowSingle, ReferenceTest,
                         ::testing::Combine(::testing::Values("llama-padding"),
                                            ::testing::Values("f32"),
                                            ::testing::Values("tp=2"),
                                            ::testing::Values(1)),
                         caseName);

/// The load-balance loss is that of the tokens which are no padding.
INSTANTIATE_TEST_SUITE_P(
    PaddedMixtral, ReferenceTest,
    ::testing::Combine(::testing::Values("mixtral-padded"),
                       ::testing::Values("f64"),
                       ::testing::Values("", "tp=2", "ep=2", "cp=2",
                                         "dp=2,ep=2", "pp=2"),
                       ::testing::Values(1)),
    caseName);

/// There is one micro-batch: several would have another load-balance loss each.
INSTANTIATE_TEST_SUITE_P(
    Mixtral, ReferenceTest,
    ::testing::Combine(::testing::Values("mixtral"),
                       ::testing::Values("f64", "f32"),
                       ::testing::Values("", "tp=2", "ep=2", "ep=4",
                                         "dp=2,ep=2", "ep=2,tp=2"),
                       ::testing::Values(1)),
    caseName);
INSTANTIATE_TEST_SUITE_P(
    Mixtral, KeptGradientsTest,
    ::testing::Combine(::testing::Values("mixtral"), ::testing::Values("f64"),
                       ::testing::Values("ep=2,tp=2", "ep=4,dp=2"),
                       ::testing::Values(1)),
    caseName);

} // namespace
