//===- FineTuningTest.cpp - frozen parameters and adapters ----------------===//
// LoRA against peft (reference/make_peft_reference.py), which computed two
// steps in f64; frozen parameters against the training of all.
//===----------------------------------------------------------------------===//

#include "test/Numerics/Model.h"
#include "test/Numerics/Reference.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cctype>
#include <cmath>
#include <gtest/gtest.h>

using namespace tessera::test;

namespace {

bool isOfAdapter(const std::string &name) {
  return name.find(".lora_") != std::string::npos;
}

std::string lettersOf(const std::string &text) {
  std::string letters;
  for (char c : text)
    letters += std::isalnum(c) ? c : '_';
  return letters;
}

//===----------------------------------------------------------------------===//
// LoRA
//===----------------------------------------------------------------------===//

/// A model of the reference and how it was adapted.
struct Adapted {
  const char *model, *adapter, *lora;
};
const Adapted kGPT2 = {"gpt2", "lora-gpt2",
                       "r=3,alpha=6,targets=c_attn,c_proj,c_fc"},
              kLlama = {"llama", "lora-llama",
                        "r=2,alpha=3,targets=q_proj,v_proj,o_proj,down_proj"},
              kT5 = {"t5", "lora-t5", "r=2,alpha=4,targets=q,v,wo"},
              kBert = {"bert", "lora-bert", "r=2,alpha=2,targets=all-linear"};

/// A model with adapters, its precision and the way it is split.
struct LoraCase {
  Adapted model;
  Strategy strategy;
  int micro = 1;
  const char *precision = "f64", *recompute = "none";
};

std::string caseName(const ::testing::TestParamInfo<LoraCase> &info) {
  const LoraCase &c = info.param;
  return lettersOf(std::string(c.model.adapter) + "_" + c.strategy.mesh + "_" +
                   std::to_string(info.index));
}

Build buildOf(const LoraCase &c, const Reference &reference) {
  Build build(c.strategy);
  build.lora = c.model.lora;
  build.precision = c.precision;
  build.recompute = c.recompute;
  build.microBatches = c.micro;
  build.target = reference.target;
  return build;
}

tsr_step_result stepOf(Trainer &trainer, const Reference &reference) {
  return reference.ids.empty() ? trainer.step(reference.tokens)
                               : trainer.step(reference.ids, reference.labels,
                                              reference.tokenTypes);
}

class LoraTest : public ::testing::TestWithParam<LoraCase> {
protected:
  void compareStep(Trainer &trainer, size_t step);
  double tolerance() const {
    return GetParam().precision == std::string("f64") ? 1e-9 : 5e-4;
  }

  Reference reference = readReference(referencePath(GetParam().model.adapter));
};

void LoraTest::compareStep(Trainer &trainer, size_t step) {
  std::vector<TensorName> moments = trainer.tensors("moment1");
  EXPECT_EQ(4 * moments.size(), reference.tensors.size());
  for (const TensorName &moment : moments) {
    SCOPED_TRACE(moment.name + " after step " + std::to_string(step + 1));
    TensorName parameter = {"parameter", moment.name, moment.elements};
    EXPECT_LE(relativeError(trainer.read(moment),
                            reference.moment1(step, moment.name)),
              tolerance());
    EXPECT_LE(relativeError(trainer.read(parameter),
                            reference.parameter(step, moment.name)),
              tolerance());
  }
}

/// Compares with peft: the losses, the norms, the gradients (which show in the
/// moments) and the parameters; nothing but adapters changes.
TEST_P(LoraTest, TwoSteps) {
  const LoraCase &c = GetParam();
  std::string model = referencePath(c.model.model);
  std::string path =
      compileModel(referenceConfig(c.model.model), buildOf(c, reference));
  ASSERT_FALSE(path.empty());
  Trainer trainer(path);
  trainer.loadWeights(model + "/weights.safetensors");
  ASSERT_EQ(tsr_session_load_adapter(trainer.get(),
                                     referencePath(c.model.adapter).c_str()),
            TSR_OK)
      << tsr_last_error();
  trainer.setSchedule(reference.lr, reference.minLr, reference.totalSteps);
  std::vector<TensorName> frozen = trainer.tensors("parameter");
  llvm::erase_if(frozen,
                 [](const TensorName &t) { return isOfAdapter(t.name); });
  std::vector<Values> before;
  for (const TensorName &tensor : frozen)
    before.push_back(trainer.read(tensor));
  for (size_t step = 0; step < reference.steps.size(); ++step) {
    tsr_step_result found = stepOf(trainer, reference);
    double allowed = tolerance() / 50;
    EXPECT_NEAR(found.loss / reference.steps[step].loss, 1, allowed);
    EXPECT_NEAR(found.grad_norm / reference.steps[step].gradNorm, 1,
                tolerance());
    compareStep(trainer, step);
  }
  for (auto [tensor, values] : llvm::zip(frozen, before))
    EXPECT_EQ(trainer.read(tensor), values) << tensor.name;
}

INSTANTIATE_TEST_SUITE_P(Serial, LoraTest,
                         ::testing::Values(LoraCase{kGPT2, {}},
                                           LoraCase{kLlama, {}},
                                           LoraCase{kT5, {}},
                                           LoraCase{kBert, {}},
                                           LoraCase{kGPT2, {}, 1, "f32"}),
                         caseName);
INSTANTIATE_TEST_SUITE_P(
    Meshes, LoraTest,
    ::testing::Values(
        LoraCase{kGPT2, {"dp=2,tp=2"}, 2}, LoraCase{kGPT2, {"tp=4", true}},
        LoraCase{kGPT2, {"pp=2,dp=2", false, 1}, 2},
        LoraCase{kGPT2, {"cp=2,tp=2", true}, 1, "f64", "full"},
        LoraCase{kLlama, {"tp=4"}}, LoraCase{kLlama, {"dp=2,tp=2", true, 3}, 2},
        LoraCase{kLlama, {"dp=4", false, 2}, 1, "f64", "selective"},
        LoraCase{kT5, {"dp=2,tp=2"}, 2},
        LoraCase{kBert, {"dp=2,tp=2", true, 1}},
        LoraCase{kBert,
                 {"dp=2,tp=2", false, 0, "all-gather", "parameter-server"}}),
    caseName);

/// bf16 holds frozen matrices rounded, and nothing else of the program changes.
TEST(Lora, BfloatRoundsFrozenMatricesOnce) {
  Reference reference = readReference(referencePath("lora-llama"));
  LoraCase half = {kLlama, {"dp=2"}, 1, "bf16"};
  std::string model = referencePath("llama");
  Trainer trainer(
      compileModel(referenceConfig("llama"), buildOf(half, reference)));
  trainer.loadWeights(model + "/weights.safetensors");
  ASSERT_EQ(tsr_session_load_adapter(trainer.get(),
                                     referencePath("lora-llama").c_str()),
            TSR_OK);
  double allowed = 2e-3; // bf16 has 8 bits: 4e-3 in a product, less in a mean
  EXPECT_NEAR(stepOf(trainer, reference).loss / reference.steps[0].loss, 1,
              allowed);
}

/// A checkpoint of one run is continued by another one, on another mesh, to the
/// bit.
TEST(Lora, CheckpointsResumeToTheBit) {
  Reference reference = readReference(referencePath("lora-gpt2"));
  Build build = buildOf({kGPT2, {"dp=2,tp=2"}}, reference);
  std::string path = compileModel(referenceConfig("gpt2"), build);
  std::string saved = scratchPath("saved");
  Trainer first(path), second(path);
  first.loadWeights(referencePath("gpt2/weights.safetensors"));
  stepOf(first, reference);
  first.save(saved);
  second.load(saved);
  Trainer serial(
      compileModel(referenceConfig("gpt2"), buildOf({kGPT2, {}}, reference)));
  serial.load(saved);
  auto expectSame = [](Trainer &a, Trainer &b) {
    for (const char *role : {"parameter", "moment1", "moment2"})
      for (const TensorName &tensor : a.tensors(role))
        EXPECT_EQ(a.read(tensor), b.read(tensor)) << tensor.name;
  };
  expectSame(serial, second);
  EXPECT_EQ(stepOf(first, reference).loss, stepOf(second, reference).loss);
  expectSame(first, second);
  // The same shapes with another scale would be another function.
  Build scaled = buildOf({kGPT2, {}}, reference);
  scaled.lora = "r=3,alpha=5,targets=c_attn,c_proj,c_fc";
  Trainer other(compileModel(referenceConfig("gpt2"), scaled));
  EXPECT_EQ(tsr_session_load(other.get(), saved.c_str()), TSR_MISMATCH);
  EXPECT_NE(std::string(tsr_last_error())
                .find("has r = 3 and lora_alpha = 6, the artifact 3 and 5"),
            std::string::npos)
      << tsr_last_error();
  // It is a model of transformers and an adapter of peft.
  std::string step = saved + "/step-00000001";
  Trainer third(path);
  third.loadWeights(step + "/model.safetensors");
  ASSERT_EQ(tsr_session_load_adapter(third.get(), step.c_str()), TSR_OK)
      << tsr_last_error();
  for (const TensorName &tensor : serial.tensors("parameter"))
    EXPECT_EQ(serial.read(tensor), third.read(tensor)) << tensor.name;
  // Its directory is both.
  Trainer fourth(path);
  ASSERT_EQ(tsr_session_load_weights(fourth.get(), step.c_str()), TSR_OK)
      << tsr_last_error();
  for (const TensorName &tensor : serial.tensors("parameter"))
    EXPECT_EQ(serial.read(tensor), fourth.read(tensor)) << tensor.name;
}

/// The model with its adapter merged computes what both do.
TEST(Lora, MergedWeightsAreTheAdaptedModel) {
  for (const Adapted &adapted : {kGPT2, kLlama}) {
    Reference reference = readReference(referencePath(adapted.adapter));
    std::string model = referencePath(adapted.model);
    std::string merged = scratchPath("merged");
    ASSERT_EQ(tsr_adapter_merge((model + "/weights.safetensors").c_str(),
                                referencePath(adapted.adapter).c_str(),
                                merged.c_str()),
              TSR_OK)
        << tsr_last_error();
    Trainer trainer(compileModel(referenceConfig(adapted.model), Build()));
    trainer.loadWeights(merged);
    // Its matrices were rounded to f32.
    EXPECT_NEAR(stepOf(trainer, reference).loss / reference.steps[0].loss, 1,
                1e-7);
  }
}

/// Errors name what is wrong, and write nothing.
TEST(Lora, OtherAdaptersAreRefused) {
  Reference reference = readReference(referencePath("lora-gpt2"));
  std::string adapter = referencePath("lora-gpt2");
  auto refusal = [&](const std::string &lora) {
    Build build;
    build.lora = lora;
    Trainer trainer(compileModel(referenceConfig("gpt2"), build));
    trainer.loadWeights(referencePath("gpt2/weights.safetensors"));
    EXPECT_EQ(tsr_session_load_adapter(trainer.get(), adapter.c_str()),
              TSR_MISMATCH);
    return std::string(tsr_last_error());
  };
  EXPECT_NE(refusal("").find("has no adapters"), std::string::npos);
  EXPECT_NE(refusal("r=2,alpha=6,targets=c_attn,c_proj,c_fc")
                .find("has r = 3 and lora_alpha = 6, the artifact 2 and 6"),
            std::string::npos);
  EXPECT_NE(refusal("r=3,alpha=6,targets=c_attn").find("other layers"),
            std::string::npos);
  std::string merged = scratchPath("merged");
  EXPECT_EQ(
      tsr_adapter_merge(referencePath("llama/weights.safetensors").c_str(),
                        adapter.c_str(), merged.c_str()),
      TSR_MISMATCH);
  EXPECT_NE(std::string(tsr_last_error()).find("is it the adapter's model?"),
            std::string::npos);
}

/// Returns a directory with the adapter and another value in its config.
std::string adapterWith(const std::string &adapter, const std::string &key,
                        const llvm::json::Value &value) {
  std::string directory = scratchPath("adapter");
  EXPECT_FALSE(llvm::sys::fs::create_directory(directory));
  EXPECT_FALSE(
      llvm::sys::fs::copy_file(adapter + "/adapter_model.safetensors",
                               directory + "/adapter_model.safetensors"));
  auto text = llvm::MemoryBuffer::getFile(adapter + "/adapter_config.json");
  llvm::json::Value config =
      llvm::cantFail(llvm::json::parse((*text)->getBuffer()));
  (*config.getAsObject())[key] = value;
  std::error_code error;
  llvm::raw_fd_ostream(directory + "/adapter_config.json", error) << config;
  EXPECT_FALSE(error);
  return directory;
}

/// Refuses adapters that add more than B A, or scale it in another way.
TEST(Lora, OtherKindsAreRefused) {
  std::string adapter = referencePath("lora-gpt2");
  std::string model = referencePath("gpt2/weights.safetensors");
  for (auto [key, value] :
       {std::pair<const char *, llvm::json::Value>{"use_dora", true},
        {"use_rslora", true},
        {"bias", "all"},
        {"rank_pattern", llvm::json::Object{{"c_attn", 4}}},
        {"modules_to_save", llvm::json::Array{"lm_head"}},
        {"peft_type", "IA3"}}) {
    std::string merged = scratchPath("merged");
    EXPECT_EQ(tsr_adapter_merge(model.c_str(),
                                adapterWith(adapter, key, value).c_str(),
                                merged.c_str()),
              TSR_UNSUPPORTED)
        << key;
    EXPECT_FALSE(llvm::sys::fs::exists(merged)) << key;
  }
  EXPECT_EQ(tsr_adapter_merge(model.c_str(),
                              adapterWith(adapter, "r", 0).c_str(),
                              scratchPath("merged").c_str()),
            TSR_CORRUPT);
}

/// A is uniform between the roots of 1 / in, and B is 0; on every mesh the
/// same. The adapted model starts as the model.
TEST(Lora, StartsAsTheModel) {
  std::string config = referenceConfig("gpt2");
  Build with;
  with.lora = kGPT2.lora;
  Trainer model(compileModel(config, Build()));
  Trainer serial(compileModel(config, with));
  with.mesh = "dp=2,tp=2";
  with.zero = 3;
  Trainer split(compileModel(config, with));
  double squares = 0, largest = 0, count = 0;
  for (const TensorName &tensor : serial.tensors("moment1")) {
    TensorName parameter = {"parameter", tensor.name, tensor.elements};
    Values values = serial.read(parameter);
    EXPECT_EQ(split.read(parameter), values) << tensor.name;
    bool isB = tensor.name.find("lora_B") != std::string::npos;
    if (isB) {
      EXPECT_EQ(values, Values(values.size(), 0.0)) << tensor.name;
    }
    if (tensor.name.find("c_attn.lora_A") == std::string::npos)
      continue;
    for (double x : values) {
      squares += 32 * x * x; // for each of 32 inputs
      largest = std::max(largest, std::sqrt(32) * std::fabs(x));
      ++count;
    }
  }
  EXPECT_NEAR(squares / count, 1.0 / 3, 0.05); // the variance
  EXPECT_LE(largest, 1);
  EXPECT_GT(largest, 0.95);
  Tokens tokens = model.randomTokens(1);
  EXPECT_EQ(serial.step(tokens).loss, model.step(tokens).loss);
}

//===----------------------------------------------------------------------===//
// Frozen parameters
//===----------------------------------------------------------------------===//

/// Frozen parameters, and the way the work is split.
struct FrozenCase {
  const char *patterns;
  Strategy strategy;
  int micro = 1;
  const char *schedule = "1f1b";
};

constexpr const char *kFirstLayers = "*.wte.*,*.wpe.*,*.h.0.*",
                     *kBiases = "*.bias,*.ln_f.*", *kLast = "*.h.1.*,*.ln_f.*";

class FrozenTest : public ::testing::TestWithParam<FrozenCase> {};

/// Without clipping a gradient does not depend on which others there are, so
/// those of the training of all are the reference.
TEST_P(FrozenTest, OthersTrainAsWithout) {
  const FrozenCase &c = GetParam();
  std::string config = referenceConfig("gpt2");
  Build all, some(c.strategy);
  all.clip = some.clip = 0;
  some.freeze = c.patterns;
  some.microBatches = c.micro;
  some.schedule = c.schedule;
  Trainer wanted(compileModel(config, all)), found(compileModel(config, some));
  Tokens tokens = wanted.randomTokens(1);
  Trainer before(compileModel(config, all));
  tsr_step_result expected = wanted.step(tokens), result = found.step(tokens);
  EXPECT_NEAR(result.loss / expected.loss, 1, 1e-12);
  double squares = 0;
  for (const TensorName &moment : found.tensors("moment1")) {
    EXPECT_LE(relativeError(found.read(moment), wanted.read(moment)), 1e-9)
        << moment.name;
    TensorName parameter = {"parameter", moment.name, moment.elements};
    EXPECT_LE(relativeError(found.read(parameter), wanted.read(parameter)),
              1e-9)
        << moment.name;
    constexpr double share = 0.1; // share of a gradient in its first moment
    for (double m : wanted.read(moment))
      squares += m * m / (share * share);
  }
  EXPECT_NEAR(result.grad_norm / std::sqrt(squares), 1, 1e-9);
  size_t frozen = 0;
  std::vector<TensorName> moments = found.tensors("moment1");
  for (const TensorName &tensor : found.tensors("parameter")) {
    if (llvm::any_of(moments, [&](const TensorName &m) {
          return m.name == tensor.name;
        }))
      continue;
    ++frozen;
    EXPECT_EQ(found.read(tensor), before.read(tensor)) << tensor.name;
  }
  EXPECT_GT(frozen, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Meshes, FrozenTest,
    ::testing::Values(
        FrozenCase{kFirstLayers, {}}, FrozenCase{kBiases, {}},
        FrozenCase{kLast, {}}, FrozenCase{kFirstLayers, {"dp=2,tp=2", true}, 2},
        FrozenCase{kBiases, {"dp=2,tp=2", false, 1}},
        FrozenCase{kLast, {"dp=2,tp=2", true, 3}, 2},
        FrozenCase{kFirstLayers, {"pp=2"}, 2},
        FrozenCase{kFirstLayers, {"pp=2,dp=2"}, 2, "zero-bubble"},
        FrozenCase{kLast, {"pp=2,tp=2"}, 2, "gpipe"},
        FrozenCase{kBiases,
                   {"dp=2", false, 0, "all-gather", "parameter-server"}}),
    [](const auto &info) {
      return lettersOf(std::string(info.param.strategy.mesh) + "_" +
                       std::to_string(info.index));
    });

int64_t flopsOf(const Trainer &trainer, const std::string &phase) {
  int64_t flops = 0;
  for (const llvm::json::Value &value : trainer.ops()) {
    const llvm::json::Object &op = *value.getAsObject();
    if (op.getString("phase").value_or("forward") == phase)
      flops += op.getInteger("flops").value_or(0) *
               op.getInteger("times").value_or(1);
  }
  return flops;
}

/// Backward ends below the lowest parameter that is trained, and what is
/// needed for a frozen one alone is not computed.
TEST(Frozen, BackwardEndsAtTheLowestTrained) {
  std::string config = referenceConfig("gpt2");
  auto flops = [&](const std::string &freeze, const std::string &lora) {
    Build build;
    build.clip = 0;
    build.freeze = freeze;
    build.lora = lora;
    return flopsOf(Trainer(compileModel(config, build)), "backward");
  };
  int64_t all = flops("", ""), layers = flops(kFirstLayers, "");
  EXPECT_LT(layers, 2 * all / 3);
  // One of two layers has no backward, and the head only that of its input.
  int64_t head = flops("*.wte.*,*.wpe.*,*.h.*", "");
  EXPECT_LT(head, all / 4);
  // Half of backward are gradients of matrices.
  EXPECT_LT(flops("", "r=1,targets=c_attn"), 2 * all / 3);
}

} // namespace
