//===- OptimizerTest.cpp - SGD, Lion and Muon against PyTorch -------------===//
// Three steps of a tiny model: losses, parameters and moments are those of
// torch.optim (reference/make_optimizer_reference.py) in f64, serial and where
// matrices, their momentum and their updates are split, and a run that resumes
// goes on bit for bit.
//===----------------------------------------------------------------------===//

#include "test/Numerics/Model.h"
#include "test/Numerics/Reference.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace tessera::test;
namespace json = llvm::json;

namespace {

/// An optimizer of the reference, and the strategy here.
struct Case {
  const char *way;
  const char *name;
  Strategy strategy;
  int64_t microBatches = 1;
};

const Strategy kSerial = {}, kTensor = {"tp=4"},
               kZero3 = {"dp=2,tp=2", true, 3}, kStages = {"pp=2,dp=2"},
               kOwners = {"dp=2,tp=2", false, 0, "all-gather",
                          "parameter-server"},
               kUneven = {"dp=8", false, 1};

/// f64: sums in another order. The steep polynomial of Muon multiplies an error
/// by 3.4 in each of five steps.
constexpr double kTolerance = 1e-9;

json::Object readExpected() {
  auto text = llvm::MemoryBuffer::getFile(referencePath("optimizers") +
                                          "/expected.json");
  auto parsed = text ? json::parse((*text)->getBuffer())
                     : llvm::Expected<json::Value>(nullptr);
  EXPECT_TRUE(parsed && parsed->getAsObject());
  return parsed ? std::move(*parsed->getAsObject()) : json::Object();
}

/// The key part of attention's bias has gradient 0 but for rounding.
void dropNoise(const TensorName &tensor, Values &x) {
  if (tensor.name.find("c_attn.bias") != std::string::npos)
    std::fill(x.begin() + x.size() / 3, x.begin() + 2 * x.size() / 3, 0.0);
}

class OptimizerTest : public ::testing::TestWithParam<Case> {
protected:
  void SetUp() override {
    expected = *record.getObject("ways")->getObject(GetParam().way);
    Build build(GetParam().strategy);
    build.microBatches = GetParam().microBatches;
    for (const auto &[flag, text] : *expected.getObject("flags"))
      build.flags.emplace_back(flag.str(), text.getAsString()->str());
    artifact = compileModel(referenceConfig("gpt2"), build);
    ASSERT_FALSE(artifact.empty());
  }

  Trainer begin() const {
    Trainer trainer(artifact);
    double lr = *expected.getNumber("lr");
    trainer.setSchedule(lr, 0, *record.getInteger("total_steps"));
    trainer.loadWeights(referencePath("gpt2") + "/weights.safetensors");
    return trainer;
  }

  /// All state, by "ROLE NAME".
  static std::map<std::string, Values> stateOf(Trainer &trainer) {
    std::map<std::string, Values> state;
    for (const char *role : {"parameter", "moment1", "moment2"})
      for (const TensorName &tensor : trainer.tensors(role)) {
        Values values = trainer.read(tensor);
        dropNoise(tensor, values);
        state[tensor.role + " " + tensor.name] = values;
      }
    return state;
  }

  void compare(const std::string &name, const Values &x) const {
    const json::Array *wanted = expected.getObject("tensors")->getArray(name);
    ASSERT_TRUE(wanted) << name << " is in no PyTorch optimizer";
    double projected = 0, squares = 0;
    for (size_t k = 0; k < x.size(); ++k) {
      projected += x[k] * std::cos(static_cast<double>(k) + 1);
      squares += x[k] * x[k];
    }
    double scale = std::sqrt(*(*wanted)[1].getAsNumber()) + 1e-300;
    EXPECT_LE(std::fabs(projected - *(*wanted)[0].getAsNumber()) / scale,
              kTolerance)
        << name;
    EXPECT_NEAR(std::sqrt(squares) / scale, 1, kTolerance) << name;
  }

  const json::Object record = readExpected();
  json::Object expected;
  std::string artifact;
  Tokens tokens = readReference(referencePath("gpt2")).tokens;
};

TEST_P(OptimizerTest, EqualsPyTorch) {
  Trainer trainer = begin();
  for (const json::Value &loss : *expected.getArray("losses"))
    EXPECT_NEAR(trainer.step(tokens).loss / *loss.getAsNumber(), 1, 1e-11);
  std::map<std::string, Values> state = stateOf(trainer);
  EXPECT_EQ(state.size(), expected.getObject("tensors")->size());
  for (const auto &[name, values] : state)
    compare(name, values);
}

TEST_P(OptimizerTest, ResumesBitForBit) {
  Trainer whole = begin(), resumed = begin();
  std::string directory = scratchPath("checkpoint");
  whole.step(tokens);
  whole.save(directory);
  resumed.load(directory);
  for (Trainer *trainer : {&whole, &resumed})
    trainer->step(tokens);
  EXPECT_EQ(stateOf(resumed), stateOf(whole));
}

std::string nameOf(const ::testing::TestParamInfo<Case> &info) {
  std::string name = std::string(info.param.way) + "_" + info.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Serial, OptimizerTest,
                         ::testing::Values(Case{"sgd", "serial", kSerial},
                                           Case{"sgd-decay", "serial", kSerial},
                                           Case{"sgd-plain", "serial", kSerial},
                                           Case{"lion-betas", "serial",
                                                kSerial},
                                           Case{"muon", "serial", kSerial, 2}),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(
    Parallel, OptimizerTest,
    ::testing::Values(
        Case{"sgd-nesterov", "zero3", kZero3},
        Case{"sgd-decay", "owners", kOwners}, Case{"lion", "zero3", kZero3},
        Case{"lion", "stages", kStages, 2},
        Case{"muon-momentum", "tensor", kTensor},
        Case{"muon", "zero3", kZero3, 2}, Case{"muon", "stages", kStages, 2},
        Case{"muon", "owners", kOwners}, Case{"muon", "uneven", kUneven}),
    nameOf);

} // namespace
