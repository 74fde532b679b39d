//===- GridTest.cpp - a step with CUDA kernels equals the CPU's -----------===//
// The program and every fused kernel are those that a GPU gets, run thread by
// thread by the emulator; products, attention, experts and collectives are the
// CPU's.
//===----------------------------------------------------------------------===//

#include "test/Numerics/Model.h"
#include "test/Numerics/Reference.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace tessera::test;

namespace {

struct Case {
  const char *name, *precision, *mesh;
  int64_t microBatches;
  /// Sums are taken in another order: rounding of the precision, and AdamW
  /// divides small gradients by their own size. 0: bf16, see
  /// expectSameRounding.
  double tolerance;
  /// A config of test/Numerics/reference; empty: a small GPT-2 with dropout.
  std::string family = "";
  const char *dpSync = "all-reduce";
  int64_t vocabulary = 61;
  int64_t batch = 8;
  uint32_t steps = 3;
  int64_t zero = 0;
  const char *contextParallel = "all-gather";
};

std::string compileFor(const Case &test, bool emulateGrid,
                       const char *precision = nullptr) {
  Build build;
  build.mesh = test.mesh;
  build.dpSync = test.dpSync;
  build.zero = test.zero;
  build.contextParallel = test.contextParallel;
  build.precision = precision ? precision : test.precision;
  build.microBatches = test.microBatches;
  build.batch = test.batch;
  build.emulateGrid = emulateGrid;
  return compileModel(test.family.empty()
                          ? smallModelWithDropout(test.vocabulary)
                          : referenceConfig(test.family),
                      build);
}

/// The key bias has gradient 0: AdamW makes steps of its rounding noise.
bool isNoise(const std::string &role, const std::string &name) {
  return role == "parameter" &&
         (name.find("c_attn.bias") != std::string::npos ||
          name.find("k_proj.bias") != std::string::npos);
}

class GridTest : public testing::TestWithParam<Case> {};

void expectSameSteps(Trainer &cpu, Trainer &grid) {
  const Case &test = GridTest::GetParam();
  for (uint32_t step = 0; step < test.steps; ++step) {
    Tokens tokens = cpu.randomTokens(step);
    tsr_step_result wanted = cpu.step(tokens), found = grid.step(tokens);
    EXPECT_NEAR(found.loss / wanted.loss, 1, test.tolerance) << step;
    EXPECT_NEAR(found.grad_norm / wanted.grad_norm, 1, test.tolerance) << step;
  }
  for (const char *role : {"parameter", "moment1"})
    for (const TensorName &tensor : cpu.tensors(role)) {
      if (isNoise(role, tensor.name))
        continue;
      EXPECT_LT(relativeError(grid.read(tensor), cpu.read(tensor), 1e-3),
                test.tolerance)
          << role << " " << tensor.name;
    }
}

/// Returns the 2-norm of a - b.
double distance(const Values &a, const Values &b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

/// Compares a model in bf16, where no element has a bound: one gradient may be
/// the difference of terms that are much larger, and AdamW divides it by its
/// own size. But the CPU's program and the grid's are two roundings of one
/// exact step, that of f64. So after the first step, gradients are as far from
/// it in one as in the other, up to the rounding of each of two values by half
/// a unit, 2^-9, of all that is summed. How a processor rounds its products
/// (AVX-512 BF16 sums pairs and flushes denormals) moves both alike.
void expectSameRounding(Trainer &cpu, Trainer &grid, Trainer &exact) {
  constexpr double unit = 1.0 / 256, alike = 4;
  Tokens tokens = cpu.randomTokens(0);
  tsr_step_result wanted = exact.step(tokens), one = cpu.step(tokens),
                  other = grid.step(tokens);
  EXPECT_NEAR(other.loss / wanted.loss, 1, unit);
  EXPECT_NEAR(one.loss / wanted.loss, 1, unit);
  double ofCpu = 0, ofGrid = 0, size = 0;
  for (const TensorName &tensor : cpu.tensors("moment1")) {
    const Values truth = exact.read(tensor);
    const double own = distance(cpu.read(tensor), truth);
    const double found = distance(grid.read(tensor), truth);
    const double length = distance(truth, Values(truth.size()));
    ofCpu += own * own;
    ofGrid += found * found;
    size += length * length;
    if (isNoise("parameter", tensor.name))
      continue;
    EXPECT_LT(found, alike * (own + unit * length)) << tensor.name;
  }
  EXPECT_LT(std::sqrt(ofGrid), 1.5 * std::sqrt(ofCpu) + unit * std::sqrt(size));
  for (uint32_t step = 1; step < GridTest::GetParam().steps; ++step) {
    tokens = cpu.randomTokens(step);
    const double loss = exact.step(tokens).loss;
    const double own = std::abs(cpu.step(tokens).loss / loss - 1);
    EXPECT_LT(std::abs(grid.step(tokens).loss / loss - 1), alike * (own + unit))
        << step;
  }
}

TEST_P(GridTest, StepsEqualTheCpus) {
  SessionSettings poisoned;
  poisoned.poison = true;
  const bool isRounded = GetParam().tolerance == 0;
  Trainer cpu(compileFor(GetParam(), false), poisoned);
  Trainer grid(compileFor(GetParam(), true), poisoned);
  for (Trainer *trainer : {&cpu, &grid})
    trainer->setSchedule(1e-2, 1e-2, 3);
  if (!isRounded)
    return expectSameSteps(cpu, grid);
  Trainer exact(compileFor(GetParam(), false, "f64"), poisoned);
  exact.setSchedule(1e-2, 1e-2, 3);
  expectSameRounding(cpu, grid, exact);
}

INSTANTIATE_TEST_SUITE_P(
    Programs, GridTest,
    testing::Values(
        Case{"f64", "f64", "", 1, 1e-9},
        Case{"f64_tp2_micro2", "f64", "tp=2", 2, 1e-9},
        Case{"f64_dp2tp2", "f64", "dp=2,tp=2", 1, 1e-9},
        Case{"f64_cp2", "f64", "cp=2", 1, 1e-9},
        Case{"f64_cp2_ring", "f64", "cp=2", 1, 1e-9, "", "all-reduce", 61, 8, 3,
             0, "ring"},
        Case{"f64_pp2", "f64", "pp=2", 2, 1e-9},
        Case{"f64_dp2_server", "f64", "dp=2", 2, 1e-9, "", "parameter-server"},
        // Rows of logits are padded, with tp=2 shards too.
        Case{"f64_padded_rows", "f64", "", 1, 1e-9, "", "all-reduce", 515},
        Case{"f64_padded_rows_tp2", "f64", "tp=2", 2, 1e-9, "", "all-reduce",
             1027},
        Case{"bf16_padded_rows", "bf16", "", 1, 0, "", "all-reduce", 515},
        // 1040 tokens: sums over them take two kernels.
        Case{"f64_long", "f64", "", 1, 1e-9, "", "all-reduce", 61, 65, 1},
        Case{"f32", "f32", "", 1, 1e-3}, Case{"bf16", "bf16", "", 1, 0},
        Case{"llama_f64_tp4", "f64", "tp=4", 2, 1e-9, "llama"},
        Case{"qwen2_f64", "f64", "", 2, 1e-9, "qwen2-yarn"},
        // Sums of bias gradients are scattered in each micro-batch.
        Case{"f64_dp2_zero2", "f64", "dp=2", 2, 1e-9, "", "all-reduce", 61, 8,
             3, 2},
        Case{"llama_bf16", "bf16", "", 1, 0, "llama"},
        Case{"mixtral_f64_ep2tp2", "f64", "ep=2,tp=2", 2, 1e-9, "mixtral"},
        Case{"mixtral_bf16_ep2", "bf16", "ep=2", 1, 0, "mixtral"},
        Case{"t5_f64_tp2", "f64", "tp=2", 2, 1e-9, "t5"},
        Case{"t5_bf16", "bf16", "", 1, 0, "t5"},
        // Shards end in padding, and masks stand in kernels.
        Case{"f64_dp2_uneven_batch", "f64", "dp=2", 1, 1e-9, "", "all-reduce",
             61, 3},
        Case{"f64_cp3_uneven_sequence", "f64", "cp=3", 1, 1e-9},
        Case{"f64_dp2cp3_uneven", "f64", "dp=2,cp=3", 1, 1e-9, "", "all-reduce",
             61, 3},
        Case{"mixtral_f64_dp2_uneven_batch", "f64", "dp=2", 1, 1e-9, "mixtral",
             "all-reduce", 61, 3}),
    [](const auto &info) { return std::string(info.param.name); });

} // namespace
