//===- DropoutTest.cpp - Philox4x32-10 in a kernel ------------------------===//

#include "test/Codegen/Kernels/KernelHarness.h"

namespace {

/// Returns the first word of Philox4x32-10 (Salmon et al. 2011), as in abi.h.
uint32_t philox(uint64_t index, uint64_t key) {
  uint32_t c[4] = {uint32_t(index), uint32_t(index >> 32), 0, 0};
  uint32_t k0 = uint32_t(key), k1 = uint32_t(key >> 32);
  for (int round = 0; round < 10; ++round) {
    uint64_t p0 = uint64_t(0xD2511F53u) * c[0];
    uint64_t p1 = uint64_t(0xCD9E8D57u) * c[2];
    uint32_t next[4] = {uint32_t(p1 >> 32) ^ c[1] ^ k0, uint32_t(p1),
                        uint32_t(p0 >> 32) ^ c[3] ^ k1, uint32_t(p0)};
    std::memcpy(c, next, sizeof(c));
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return c[0];
}

std::string rounds() {
  std::string text;
  std::string c[4] = {"%low", "%high", "%zero", "%zero"};
  for (int round = 0; round < 10; ++round) {
    std::string n = std::to_string(round);
    text += "%l0_" + n + ", %h0_" + n + " = arith.mului_extended %M0, " + c[0] +
            " : i32\n" + "%l1_" + n + ", %h1_" + n +
            " = arith.mului_extended %M1, " + c[2] + " : i32\n" + "%dk0_" + n +
            " = arith.constant " +
            std::to_string(int32_t(0x9E3779B9u * round)) + " : i32\n" +
            "%dk1_" + n + " = arith.constant " +
            std::to_string(int32_t(0xBB67AE85u * round)) + " : i32\n" + "%k0_" +
            n + " = arith.addi %key0, %dk0_" + n + " : i32\n" + "%k1_" + n +
            " = arith.addi %key1, %dk1_" + n + " : i32\n" + "%x0_" + n +
            " = arith.xori %h1_" + n + ", " + c[1] + " : i32\n" + "%y0_" + n +
            " = arith.xori %x0_" + n + ", %k0_" + n + " : i32\n" + "%x1_" + n +
            " = arith.xori %h0_" + n + ", " + c[3] + " : i32\n" + "%y1_" + n +
            " = arith.xori %x1_" + n + ", %k1_" + n + " : i32\n";
    c[0] = "%y0_" + n;
    c[1] = "%l1_" + n;
    c[2] = "%y1_" + n;
    c[3] = "%l0_" + n;
  }
  return text + "%random = arith.addi " + c[0] + ", %zero : i32\n";
}

/// y = keep ? x / (1 - p) : 0, with p = 1/4 and the row sum of y.
std::string dropoutText(int64_t rows, int64_t cols) {
  std::string text = R"(
#full = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
!plane = tensor<${R}x${C}xf32>
!rows = tensor<${R}xf32>
func.func private @dropout(%x: !plane, %key: i64, %base: i64) -> (!plane, !rows) attributes {rt.schedule = "row"} {
  %zero = arith.constant 0 : i32
  %M0 = arith.constant -766435501 : i32
  %M1 = arith.constant -845247145 : i32
  %c32 = arith.constant 32 : i64
  %threshold = arith.constant 1073741824 : i32
  %scale = arith.constant 1.33333337 : f32
  %fzero = arith.constant 0.0 : f32
  %cols = arith.constant ${C} : i64
  %key0 = arith.trunci %key : i64 to i32
  %keyhigh = arith.shrui %key, %c32 : i64
  %key1 = arith.trunci %keyhigh : i64 to i32
  %plane = tensor.empty() : !plane
  %rows = tensor.empty() : !rows
  %init = linalg.fill ins(%fzero : f32) outs(%rows : !rows) -> !rows
  %y = linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel"]}
      ins(%x : !plane) outs(%plane : !plane) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %i64 = arith.index_cast %i : index to i64
    %j64 = arith.index_cast %j : index to i64
    %ic = arith.muli %i64, %cols : i64
    %ib = arith.addi %ic, %base : i64
    %n = arith.addi %ib, %j64 : i64
    %nhigh = arith.shrui %n, %c32 : i64
    %low = arith.trunci %n : i64 to i32
    %high = arith.trunci %nhigh : i64 to i32
    ${ROUNDS}
    %keep = arith.cmpi uge, %random, %threshold : i32
    %s = arith.mulf %a, %scale : f32
    %r = arith.select %keep, %s, %fzero : f32
    linalg.yield %r : f32
  } -> !plane
  %sum = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]}
      ins(%y : !plane) outs(%init : !rows) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  } -> !rows
  return %y, %sum : !plane, !rows
})";
  auto fill = [&](const std::string &hole, const std::string &value) {
    for (size_t at = text.find(hole); at != std::string::npos;
         at = text.find(hole))
      text.replace(at, hole.size(), value);
  };
  fill("${R}", std::to_string(rows));
  fill("${C}", std::to_string(cols));
  fill("${ROUNDS}", rounds());
  return text;
}

} // namespace

class Dropout : public ::testing::TestWithParam<int64_t> {};

TEST_P(Dropout, DropsWhatTheRuntimeWould) {
  const int64_t rows = 6, cols = GetParam();
  auto kernels = LoadedKernels::compile(dropoutText(rows, cols));
  auto x = Array<float>::random(rows * cols, 1, 1, 2);
  Array<float> y(rows * cols), sum(rows), expected(rows * cols);
  std::vector<double> sums(rows);
  uint64_t key = tsr_abi_stream(1234, 5, 6);
  // Crosses 2^32, so the high counter word changes within a row.
  int64_t base = (int64_t(1) << 32) - cols - cols / 2;
  for (int64_t i = 0; i < rows * cols; ++i) {
    bool keep = philox(base + i, key) >= (1u << 30);
    expected[i] = keep ? x[i] * 1.33333337f : 0.0f;
    sums[i / cols] += expected[i];
  }
  runIn(kernels["dropout"], {x.data(), y.data(), sum.data()},
        {int64_t(key), base}, {0, 1, rows});
  EXPECT_TRUE(sameBits(y, expected));
  EXPECT_TRUE(near(sum, sums, 1e-5));
}

INSTANTIATE_TEST_SUITE_P(Columns, Dropout,
                         ::testing::Values(1, 7, 17, 100, 768));
