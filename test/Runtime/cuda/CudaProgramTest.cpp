//===- CudaProgramTest.cpp - compiled programs on the device --------------===//
// Programs that --device cuda compiles are run by the device's own host code:
// walks, words, workspace, streams, captured steps, collectives. CUDA is
// replaced by the stand-ins of this folder, whose streams are late at random,
// and generated kernels by the same kernels run thread by thread. So the
// results have the bits of the same kernels run by the CPU's runtime, one after
// the other; those of experts, whose kernels are the device's own, are near.
//===----------------------------------------------------------------------===//

#include "test/Numerics/Model.h"
#include "test/Numerics/Reference.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <set>

using namespace tessera::test;
namespace json = llvm::json;

namespace {

struct Case {
  const char *name, *precision, *mesh;
  /// Under the reference directory; null: a GPT-2 with dropout.
  const char *model = nullptr;
  int64_t microBatches = 1;
  int64_t zero = 0;
  const char *contextParallel = "all-gather";
  bool sequenceParallel = false;
  bool evaluation = false;
  bool documentMask = false, paddingMask = false;
  /// Tolerance for the device's libraries, which round in other places. 0: the
  /// same bits.
  double tolerance = 0;
  const char *communicator = "threads";
  const char *expertBuffer = nullptr; ///< For experts, in even shares.
  /// Part of what the device says of itself.
  const char *says = "stand-in";

  /// Ranks that are threads meet on the host: their steps are not captured.
  bool hasGraph() const {
    return mesh[0] == 0 || std::strcmp(communicator, "nccl") == 0;
  }
};

std::string compileFor(const Case &test, const char *device) {
  Build build;
  build.mesh = test.mesh;
  build.precision = test.precision;
  build.microBatches = test.microBatches;
  build.zero = test.zero;
  build.contextParallel = test.contextParallel;
  build.sequenceParallel = test.sequenceParallel;
  build.evaluation = test.evaluation;
  build.documentMask = test.documentMask;
  build.paddingMask = test.paddingMask;
  if (test.expertBuffer)
    build.flags = {{"expert-buffer", test.expertBuffer}};
  build.emulateGrid = true;
  build.device = device;
  return compileModel(test.model ? referenceConfig(test.model)
                                 : smallModelWithDropout(),
                      build);
}

/// Ranks with one thread each, as the stand-in multiplies: bits of the matrix
/// library may depend on the number of threads (oneDNN without AVX-512).
SessionSettings cpuSettings() {
  SessionSettings settings;
  settings.threads = 1;
  return settings;
}

class CudaProgramTest : public testing::TestWithParam<Case> {
protected:
  void expectEqual(double found, double wanted, const char *what) {
    if (GetParam().tolerance == 0)
      EXPECT_EQ(found, wanted) << what;
    else
      EXPECT_NEAR(found / wanted, 1, GetParam().tolerance) << what;
  }
};

TEST_P(CudaProgramTest, StepsAreThoseOfTheCpu) {
  SessionSettings onDevice;
  onDevice.device = "cuda";
  onDevice.communicator = GetParam().communicator;
  Trainer cpu(compileFor(GetParam(), "cpu"), cpuSettings());
  Trainer device(compileFor(GetParam(), "cuda"), onDevice);
  std::string about = tsr_session_device(device.get());
  EXPECT_NE(about.find(GetParam().says), std::string::npos) << about;
  // With a graph the second step is captured, the third only launched.
  const uint32_t steps = GetParam().hasGraph() ? 3 : 2;
  for (uint32_t step = 0; step < steps; ++step) {
    SCOPED_TRACE(step);
    Tokens tokens = cpu.randomTokens(step);
    tsr_step_result wanted = cpu.step(tokens), found = device.step(tokens);
    expectEqual(found.loss, wanted.loss, "loss");
    expectEqual(found.grad_norm, wanted.grad_norm, "gradient norm");
    EXPECT_EQ(tsr_session_expert_rounds(device.get()),
              tsr_session_expert_rounds(cpu.get()));
    if (GetParam().expertBuffer) {
      EXPECT_GT(tsr_session_expert_rounds(device.get()), 1);
    }
  }
  if (GetParam().tolerance != 0)
    return;
  for (const char *role : {"parameter", "moment1"})
    for (const TensorName &tensor : cpu.tensors(role))
      EXPECT_EQ(device.read(tensor), cpu.read(tensor))
          << role << " " << tensor.name;
}

/// Ops of a trace by thread: 0 is the program's stream, 1 the collectives'.
std::map<int64_t, std::multiset<int64_t>> opsOf(const std::string &trace,
                                                int64_t rank) {
  std::map<int64_t, std::multiset<int64_t>> ops;
  auto file = llvm::MemoryBuffer::getFile(trace);
  if (!file)
    return ops;
  const json::Value root = cantFail(json::parse((*file)->getBuffer()));
  for (const json::Value &value :
       *root.getAsObject()->getArray("traceEvents")) {
    const json::Object &event = *value.getAsObject();
    if (*event.getString("ph") != "X" || *event.getInteger("pid") != rank)
      continue;
    EXPECT_GE(*event.getNumber("dur"), 0);
    ops[*event.getInteger("tid")].insert(
        *event.getObject("args")->getInteger("op"));
  }
  return ops;
}

class TracedStep : public testing::TestWithParam<const char *> {};

/// A step that is traced is not a captured one, has the same bits, and tells of
/// each op once, in its stream; the next one is captured again.
TEST_P(TracedStep, TellsOfEveryOp) {
  Case test = {"traced", "f32", GetParam()};
  SessionSettings onDevice;
  onDevice.device = "cuda";
  std::string artifact = compileFor(test, "cuda");
  Trainer cpu(compileFor(test, "cpu"), cpuSettings());
  Trainer device(artifact, onDevice);
  std::string path = artifact + ".json";
  for (uint32_t step = 0; step < 5; ++step) {
    Tokens tokens = cpu.randomTokens(step);
    if (step == 3) {
      ASSERT_EQ(tsr_session_trace(device.get(), path.c_str()), TSR_OK);
    }
    EXPECT_EQ(device.step(tokens).loss, cpu.step(tokens).loss) << step;
  }
  std::map<int64_t, std::multiset<int64_t>> wanted;
  const json::Array ops = device.ops();
  for (size_t i = 0; i < ops.size(); ++i) {
    const json::Object &op = *ops[i].getAsObject();
    bool isCollective = op.getArray("axes") != nullptr;
    if (*op.getString("op") != "wait")
      wanted[isCollective].insert(static_cast<int64_t>(i));
  }
  for (int64_t rank = 0; rank < (GetParam()[0] ? 2 : 1); ++rank)
    EXPECT_EQ(opsOf(path, rank), wanted) << "rank " << rank;
}

INSTANTIATE_TEST_SUITE_P(Meshes, TracedStep, testing::Values("", "dp=2"),
                         [](const auto &info) {
                           return info.param[0] ? "dp2" : "serial";
                         });

/// Each call that numbers rounds has its number, of which the step's is the
/// largest.
TEST(TracedRounds, AreThoseOfTheStep) {
  Case test = {"traced_rounds", "f32", "ep=2", "mixtral"};
  test.expertBuffer = "0.8";
  SessionSettings onDevice;
  onDevice.device = "cuda";
  std::string artifact = compileFor(test, "cuda"), path = artifact + ".json";
  Trainer device(artifact, onDevice);
  ASSERT_EQ(tsr_session_trace(device.get(), path.c_str()), TSR_OK);
  device.step(device.randomTokens(0));
  auto file = llvm::MemoryBuffer::getFile(path);
  ASSERT_TRUE(bool(file));
  const json::Value root = cantFail(json::parse((*file)->getBuffer()));
  int64_t most = 0;
  for (const json::Value &value :
       *root.getAsObject()->getArray("traceEvents")) {
    const json::Object &event = *value.getAsObject();
    const json::Object *args = event.getObject("args");
    std::optional<int64_t> rounds =
        args ? args->getInteger("rounds") : std::nullopt;
    EXPECT_EQ(rounds.has_value(), event.getString("cat") == "row_rounds");
    most = std::max(most, rounds.value_or(0));
  }
  EXPECT_GT(most, 1);
  EXPECT_EQ(most, tsr_session_expert_rounds(device.get()));
}

/// Steps and evaluations take turns: a captured step is captured again after
/// one, and each measures what the CPU does.
class EvaluatedStep : public testing::TestWithParam<const char *> {};

TEST_P(EvaluatedStep, MeasuresWhatTheCpuDoes) {
  Case test = {"evaluated", "f32", GetParam()};
  test.evaluation = true;
  SessionSettings onDevice;
  onDevice.device = "cuda";
  Trainer cpu(compileFor(test, "cpu"), cpuSettings());
  Trainer device(compileFor(test, "cuda"), onDevice);
  for (uint32_t step = 0; step < 6; ++step) {
    SCOPED_TRACE(step);
    Tokens tokens = cpu.randomTokens(step);
    EXPECT_EQ(device.step(tokens).loss, cpu.step(tokens).loss);
    if (step == 1)
      continue;
    tsr_evaluation wanted = cpu.evaluate(tokens),
                   found = device.evaluate(tokens);
    EXPECT_EQ(found.loss, wanted.loss);
    EXPECT_EQ(found.correct, wanted.correct);
  }
}

INSTANTIATE_TEST_SUITE_P(Meshes, EvaluatedStep,
                         testing::Values("", "dp=2,tp=2", "pp=2"),
                         [](const auto &info) {
                           std::string name = info.param;
                           llvm::erase_if(name,
                                          [](char c) { return !isalnum(c); });
                           return name.empty() ? "serial" : name;
                         });

Case with(Case test, void (*change)(Case &)) {
  change(test);
  return test;
}

INSTANTIATE_TEST_SUITE_P(
    Programs, CudaProgramTest,
    testing::Values(
        Case{"f32", "f32", ""}, Case{"bf16", "bf16", ""},
        Case{"f32_tp2_micro2", "f32", "tp=2", nullptr, 2},
        Case{"bf16_dp2tp2", "bf16", "dp=2,tp=2"},
        Case{"f32_dp2_zero3", "f32", "dp=2", nullptr, 1, 3},
        with({"f32_tp2_sequence", "f32", "tp=2"},
             [](Case &test) { test.sequenceParallel = true; }),
        Case{"f32_cp2", "f32", "cp=2"},
        with({"f32_cp2_ring", "f32", "cp=2"},
             [](Case &test) { test.contextParallel = "ring"; }),
        with({"f32_cp2_ulysses", "f32", "cp=2"},
             [](Case &test) { test.contextParallel = "ulysses"; }),
        Case{"f32_pp2", "f32", "pp=2", nullptr, 4},
        Case{"t5_f32_tp2", "f32", "tp=2", "t5"},
        Case{"llama_bf16_tp2", "bf16", "tp=2", "llama", 2},
        with({"packed_f32_dp2tp2", "f32", "dp=2,tp=2", "llama-packed"},
             [](Case &test) { test.documentMask = true; }),
        with({"packed_bf16_cp2_ring", "bf16", "cp=2", "llama-packed"},
             [](Case &test) {
               test.documentMask = true;
               test.contextParallel = "ring";
             }),
        with({"padded_t5_f32_tp2", "f32", "tp=2", "t5-padded"},
             [](Case &test) { test.paddingMask = true; }),
        // The experts' own kernels, whose sums have other orders.
        with({"mixtral_f32", "f32", "", "mixtral"},
             [](Case &test) { test.tolerance = 1e-4; }),
        with({"mixtral_bf16_tp2_sequence", "bf16", "tp=2", "mixtral"},
             [](Case &test) {
               test.sequenceParallel = true;
               test.tolerance = 3e-2;
             }),
        with({"mixtral_f32_ep2tp2", "f32", "ep=2,tp=2", "mixtral", 2},
             [](Case &test) { test.tolerance = 1e-4; }),
        with({"mixtral_bf16_ep2_nccl", "bf16", "ep=2", "mixtral"},
             [](Case &test) {
               test.communicator = "nccl";
               test.says = "nccl";
               test.tolerance = 3e-2;
             }),
        // More rows than a round has room for, which only the device knows.
        with({"mixtral_f32_ep2_rounds_nccl", "f32", "ep=2", "mixtral"},
             [](Case &test) {
               test.communicator = "nccl";
               test.says = "nccl";
               test.expertBuffer = "0.8";
               test.tolerance = 1e-4;
             }),
        with({"mixtral_bf16_ep2_rounds", "bf16", "ep=2", "mixtral"},
             [](Case &test) {
               test.expertBuffer = "0.8";
               test.tolerance = 3e-2;
             }),
        with({"bf16_cudnn", "bf16", "tp=2", "gpt2"},
             [](Case &test) {
               test.says = "attention by cuDNN";
               test.tolerance = 3e-2;
             }),
        with({"f32_dp2_nccl", "f32", "dp=2"},
             [](Case &test) {
               test.communicator = "nccl";
               test.says = "nccl";
               test.tolerance = 1e-3;
             })),
    [](const auto &info) { return std::string(info.param.name); });

} // namespace
