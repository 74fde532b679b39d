//===- EmbeddingTest.cpp - table lookups ----------------------------------===//

#include "test/Codegen/Kernels/KernelHarness.h"

class Embedding : public ::testing::TestWithParam<int64_t> {
protected:
  static constexpr int64_t rows = 12, vocabulary = 50, sequence = 4;
  int64_t cols = GetParam();
  LoadedKernels kernels = LoadedKernels::compile(
      instantiate("embedding.mlir.in", {{"R", std::to_string(rows)},
                                        {"C", std::to_string(cols)},
                                        {"V", std::to_string(vocabulary)},
                                        {"S", std::to_string(sequence)},
                                        {"T", "f32"}}));
};

TEST_P(Embedding, LookupMasksForeignIds) {
  const int64_t start = 100;
  auto table = Array<float>::random(vocabulary * cols, 1);
  auto positions = Array<float>::random(sequence * cols, 2);
  Array<int32_t> ids(rows);
  Array<float> y(rows * cols), expected(rows * cols);
  for (int64_t r = 0; r < rows; ++r) {
    ids[r] = r == 0 ? 99 : r == 1 ? 150 : r == 2 ? 149 : 100 + 3 * r;
    for (int64_t c = 0; c < cols; ++c) {
      bool held = ids[r] >= start && ids[r] < start + vocabulary;
      float value = held ? table[(ids[r] - start) * cols + c] : 0.0f;
      expected[r * cols + c] = value + positions[r % sequence * cols + c];
    }
  }
  runIn(kernels["lookup"],
        {ids.data(), table.data(), positions.data(), y.data()}, {start},
        {0, 5, rows});
  EXPECT_TRUE(sameBits(y, expected));
}

TEST_P(Embedding, GatherOverRows) {
  auto x = Array<float>::random(rows * cols, 1);
  Array<int32_t> ids(rows);
  Array<float> y(rows), expected(rows);
  for (int64_t r = 0; r < rows; ++r) {
    ids[r] = (5 * r + 2) % cols;
    expected[r] = x[r * cols + ids[r]];
  }
  runIn(kernels["pick"], {x.data(), ids.data(), y.data()}, {}, {0, 3, rows});
  EXPECT_TRUE(sameBits(y, expected));
}

INSTANTIATE_TEST_SUITE_P(Columns, Embedding,
                         ::testing::Values(1, 7, 17, 100, 768));
