//===- ReferenceTest.cpp - compiled programs against PyTorch --------------===//
// Two steps of every model of test/models, with fixed weights on several
// meshes: loss, gradient norm, gradients, moments and parameters equal what an
// independent program (reference/make_reference.py, GPT-2) or transformers
// (make_transformers_reference.py, the other families) computed in f64. So do
// models of reference/ that have a config of their own; cases.json beside it
// says what is run.
//===----------------------------------------------------------------------===//

#include "test/Numerics/Reference.h"
#include "test/Models.h"
#include "test/Numerics/Model.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cmath>
#include <gtest/gtest.h>
#include <optional>

using namespace tessera::test;
namespace json = llvm::json;

namespace {

struct Case {
  std::string reference, precision, mesh;
  int64_t microBatches;
  bool keepsGradients = false;
};

std::string caseName(const ::testing::TestParamInfo<Case> &info) {
  const Case &c = info.param;
  return lettersOf(c.reference) + "_" + c.precision + "_" +
         (c.mesh.empty() ? "serial" : lettersOf(c.mesh)) + "_micro" +
         std::to_string(c.microBatches);
}

/// Elements [begin, end) of a parameter.
struct Part {
  size_t begin, end;
};

class ReferenceTest : public ::testing::TestWithParam<Case> {
protected:
  void run();
  void expectSameWeights(Trainer &trainer);
  void compareStep(Trainer &trainer, size_t step);
  void compare(const TensorName &tensor, const Values &found,
               const Values &wanted, size_t step);
  void compareNoise(Part part, const Values &found, const Values &wanted,
                    size_t step);

  bool isDouble() const { return GetParam().precision == "f64"; }

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

  std::string directory = referencePath(GetParam().reference);
  Reference reference;
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

/// The files of transformers come out as they went in: names, shapes, every
/// bit.
void ReferenceTest::expectSameWeights(Trainer &trainer) {
  std::string saved = scratchPath("saved");
  trainer.save(saved);
  expectSameTensors(saved + "/step-00000000/model.safetensors",
                    directory + "/weights.safetensors");
}

void ReferenceTest::run() {
  const Case &c = GetParam();
  ASSERT_TRUE(llvm::sys::fs::exists(directory + "/expected.json"))
      << "nothing to compare " << c.reference
      << " with; run reference/make_transformers_reference.py " << c.reference;
  reference = readReference(directory);
  Build build;
  build.mesh = c.mesh;
  build.precision = c.precision;
  build.microBatches = c.microBatches;
  build.keepValues = c.keepsGradients;
  build.target = reference.target;
  build.ignoresLabels = reference.ignoresLabels;
  build.documentMask = reference.documentMask;
  build.paddingMask = reference.paddingMask;
  std::string path = compileModel(referenceConfig(c.reference), build);
  ASSERT_FALSE(path.empty());
  Trainer trainer(path);
  trainer.loadWeights(directory + "/weights.safetensors");
  trainer.setSchedule(reference.lr, reference.minLr, reference.totalSteps);
  if (c.keepsGradients) {
    EXPECT_EQ(trainer.tensors("gradient").size(),
              trainer.tensors("parameter").size());
  }
  if (c.precision == "f32")
    expectSameWeights(trainer);
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
TEST_P(ReferenceTest, TwoSteps) { run(); }

/// The program of `verify`, which keeps the gradients themselves.
using KeptGradientsTest = ReferenceTest;
TEST_P(KeptGradientsTest, TwoSteps) { run(); }

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

/// Meshes that split what each model has, and its experts.
std::vector<std::string> meshesOf(const TestModel &model) {
  if (model.experts)
    return {"", "tp=2", "ep=2", "ep=4", "dp=2,ep=2", "ep=2,tp=2"};
  std::vector<std::string> meshes = {"",          "tp=2", "dp=2",
                                     "dp=2,tp=2", "cp=2", "dp=2,cp=2"};
  if (model.splitsHeads(4))
    meshes.push_back("tp=4");
  return meshes;
}

/// Adds every mesh in both precisions, with one micro-batch in f32 and two in
/// f64. Experts have one: each micro-batch has a load-balance loss of its own,
/// while transformers has one of the batch.
void addCases(const TestModel &model, std::vector<Case> &cases) {
  int64_t other = model.experts ? 1 : 2;
  for (const std::string &mesh : meshesOf(model)) {
    cases.push_back({model.name, "f64", mesh, other});
    cases.push_back({model.name, "f32", mesh, 1});
    if (other != 1 && (mesh.empty() || mesh == "dp=2,tp=2"))
      cases.push_back({model.name, "f64", mesh, 1});
  }
  std::vector<std::string> kept = {"", "tp=2", "dp=2", "dp=2,tp=2"};
  if (model.experts)
    kept = {"", "ep=2,tp=2", "ep=4,dp=2"};
  else if (model.splitsHeads(4))
    kept.push_back("tp=4");
  for (const std::string &mesh : kept)
    cases.push_back({model.name, "f64", mesh, other, true});
}

json::Array readArray(const std::string &path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  auto parsed = json::parse(file ? (*file)->getBuffer() : "");
  EXPECT_TRUE(parsed && parsed->getAsArray()) << path << " is no list";
  if (parsed && parsed->getAsArray())
    return std::move(*parsed->getAsArray());
  llvm::consumeError(parsed.takeError());
  return {};
}

/// Adds the cases that cases.json of a reference's folder lists.
void addCases(const std::string &reference, std::vector<Case> &cases) {
  json::Array lists = readArray(referencePath(reference) + "/cases.json");
  for (const json::Value &value : lists) {
    const json::Object &list = *value.getAsObject();
    for (const json::Value &mesh : *list.getArray("meshes"))
      for (const json::Value &parts : *list.getArray("micro_batches"))
        cases.push_back({reference, list.getString("precision")->str(),
                         mesh.getAsString()->str(), *parts.getAsInteger(),
                         list.getBoolean("keeps_gradients").value_or(false)});
  }
}

std::vector<Case> allCases(bool keepsGradients) {
  std::vector<Case> cases;
  for (const TestModel &model : testModels())
    addCases(model, cases);
  for (const std::string &reference : ownReferences())
    addCases(reference, cases);
  llvm::erase_if(
      cases, [&](const Case &c) { return c.keepsGradients != keepsGradients; });
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Models, ReferenceTest,
                         ::testing::ValuesIn(allCases(false)), caseName);
INSTANTIATE_TEST_SUITE_P(Models, KeptGradientsTest,
                         ::testing::ValuesIn(allCases(true)), caseName);

} // namespace
