//===- ColumnSlicesTest.cpp - sums over many rows -------------------------===//
// CUDA kernels cut so many rows into slices. Inputs are small integers, whose
// sums are exact in any order.
//===----------------------------------------------------------------------===//

#include "test/Codegen/Kernels/ColumnSums.h"
#include <limits>

namespace {

constexpr const char *file = "column-slices.mlir.in";
constexpr unsigned limit = 4; ///< largest integer

/// Inputs of `scaled`, and what it must give.
template <typename T> struct Scaled {
  Array<T> x, s, old, y, sum, half, top;
  Array<int32_t> count;

  explicit Scaled(Shape shape)
      : x(integers<T>(shape.rows * shape.cols, 1, limit)),
        s(integers<T>(shape.rows, 2, limit)),
        old(integers<T>(shape.cols, 3, limit)), y(x.size()), sum(old),
        half(old.size()), top(old.size()), count(old.size()) {
    for (int64_t c = 0; c < shape.cols; ++c) {
      top[c] = -std::numeric_limits<T>::infinity();
      count[c] = 0;
      for (int64_t r = 0; r < shape.rows; ++r) {
        T value = x[r * shape.cols + c] * s[r] + T(c);
        y[r * shape.cols + c] = value;
        sum[c] += value;
        top[c] = std::max(top[c], value);
        count[c] += value > 0;
      }
      half[c] = sum[c] / 2;
    }
  }
};

template <typename T> void checkScaled(Shape shape) {
  Scaled<T> wanted(shape);
  auto kernels = LoadedKernels::compile(textOf<T>(file, shape));
  Array<T> y(wanted.x.size()), sum(shape.cols), half(shape.cols),
      top(shape.cols);
  Array<int32_t> count(shape.cols);
  auto expectAll = [&](const Array<T> &foundY, const Array<T> &foundSum) {
    EXPECT_TRUE(sameBits(foundY, wanted.y) && sameBits(foundSum, wanted.sum));
    EXPECT_TRUE(sameBits(half, wanted.half) && sameBits(top, wanted.top));
    EXPECT_TRUE(sameBits(count, wanted.count));
  };
  runIn(kernels["scaled"],
        {wanted.x.data(), wanted.s.data(), wanted.old.data(), y.data(),
         sum.data(), half.data(), top.data(), count.data()},
        {}, {0, shape.cols});
  expectAll(y, sum);
  Array<T> x(wanted.x), old(wanted.old);
  runIn(kernels["scaled"],
        {x.data(), wanted.s.data(), old.data(), x.data(), old.data(),
         half.data(), top.data(), count.data()},
        {}, {0, shape.cols});
  expectAll(x, old);
}

/// Rows of planes begin every `stride` elements.
void checkRounded(Shape shape, int64_t stride) {
  auto x = integers<bfloat16>(shape.rows * stride, 4, limit);
  auto w = integers<float>(shape.cols, 5, limit);
  Array<bfloat16> y(x);
  Array<float> sum(shape.cols);
  for (int64_t r = 0; r < shape.rows; ++r)
    for (int64_t c = 0; c < shape.cols; ++c) {
      bfloat16 &value = y[r * stride + c];
      value = float(value) * w[c];
      sum[c] += float(value);
    }
  expectRounded(file, shape, stride, x, w, y, sum, shape.cols);
}

} // namespace

class ColumnSlices : public testing::TestWithParam<Shape> {};

TEST_P(ColumnSlices, SumsAreExact) {
  checkScaled<float>(GetParam());
  checkScaled<double>(GetParam());
  checkRounded(GetParam(), GetParam().cols);
}

TEST_P(ColumnSlices, PaddingOfRowsDoesNotCount) {
  checkRounded(GetParam(), (GetParam().cols / 64 + 1) * 64);
}

TEST(ColumnSlicesImage, SaysTheWorkspaceOfItsKernels) {
  auto imageOf = [](Shape shape) {
    return LoadedKernels::compileImage(textOf<float>(file, shape));
  };
  // The three sums of `scaled`: 4 bytes for each of 16 slices and 256 columns.
  constexpr int64_t oneSum = 16 * 256 * 4;
  EXPECT_EQ(imageOf({1024, 256}).image().workspace_bytes, 3 * oneSum);
  EXPECT_EQ(imageOf({1023, 256}).image().workspace_bytes, 0);
}

/// Returns the PTX of a kernel.
std::string bodyOf(const LoadedKernels &kernels, const std::string &name) {
  std::string ptx = kernels.image().ptx;
  size_t begin = ptx.find(".entry " + name + "(");
  if (begin == std::string::npos)
    return "";
  return ptx.substr(begin, ptx.find("\n}", begin) - begin);
}

size_t countOf(const std::string &text, const std::string &word) {
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string::npos;
       at = text.find(word, at + 1))
    ++count;
  return count;
}

TEST(ColumnSlicesImage, ThreadsMove16Bytes) {
  auto kernels = LoadedKernels::compileImage(textOf<float>(file, {1024, 256}));
  for (const char *name : {"scaled", "rounded"}) {
    std::string body = bodyOf(kernels, name);
    EXPECT_GE(countOf(body, "ld.global.v4.b32"), 4u) << name << " loads 4 rows";
    EXPECT_GE(countOf(body, "st.global.v4.b32"), 4u) << name;
    for (const char *narrow : {"global.b8", "global.u8", "global.b16"})
      EXPECT_EQ(countOf(body, narrow), 0u) << name << ": " << narrow;
  }
}

// Rows: of whole slices; that leave the last one a rest, and groups of rows
// too; the fewest that are cut. Columns: whole tiles of 16-byte vectors, a part
// of a tile, vectors of 8 and of 2 bytes.
INSTANTIATE_TEST_SUITE_P(Shapes, ColumnSlices,
                         testing::Values(Shape{1536, 256}, Shape{1093, 264},
                                         Shape{1030, 100}, Shape{1027, 7},
                                         Shape{1023, 40}, Shape{1024, 40},
                                         Shape{17, 67588}),
                         [](const auto &info) {
                           return std::to_string(info.param.rows) + "x" +
                                  std::to_string(info.param.cols);
                         });
