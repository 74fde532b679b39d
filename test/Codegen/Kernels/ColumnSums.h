//===- ColumnSums.h - sums over rows, exact in any order --------*- C++ -*-===//
// Shared by ColumnSlicesTest and RowSumsTest: texts for a shape and a type,
// inputs of small integers, and the comparison of kernel `rounded`.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_TEST_CODEGEN_KERNELS_COLUMNSUMS_H
#define TESSERA_TEST_CODEGEN_KERNELS_COLUMNSUMS_H

#include "test/Codegen/Kernels/KernelHarness.h"

struct Shape {
  int64_t rows, cols;
  size_t size() const { return rows * cols; }
};

template <typename T> struct Name;
template <> struct Name<float> {
  static constexpr const char *type = "f32", *least = "0xFF800000";
};
template <> struct Name<double> {
  static constexpr const char *type = "f64", *least = "0xFFF0000000000000";
};

/// Returns a file of kernels/ for a shape and a type.
template <typename T> std::string textOf(const std::string &file, Shape shape) {
  return instantiate(file, {{"R", std::to_string(shape.rows)},
                            {"C", std::to_string(shape.cols)},
                            {"T", Name<T>::type},
                            {"LEAST", Name<T>::least}});
}

/// Whole numbers from -limit to limit.
template <typename T>
Array<T> integers(size_t size, unsigned seed, unsigned limit) {
  Array<T> result(size);
  std::mt19937 engine(seed);
  for (size_t i = 0; i < size; ++i)
    result[i] =
        static_cast<T>(float(int(engine() % (2 * limit + 1)) - int(limit)));
  return result;
}

/// Kernel `rounded` of the file, whose planes of bf16 have rows that begin
/// every `stride` elements: y and sum from x and w, also with y over x. `count`
/// is what [begin, end) runs over.
inline void expectRounded(const std::string &file, Shape shape, int64_t stride,
                          Array<bfloat16> x, Array<float> &w,
                          const Array<bfloat16> &y, const Array<float> &sum,
                          int64_t count) {
  std::string text = textOf<float>(file, shape);
  if (stride != shape.cols)
    text = withRowStride(text,
                         std::to_string(shape.rows) + "x" +
                             std::to_string(shape.cols) + "xbf16",
                         stride);
  auto kernels = LoadedKernels::compile(text);
  Array<bfloat16> foundY(x);
  Array<float> foundSum(shape.cols);
  runIn(kernels["rounded"],
        {x.data(), w.data(), foundY.data(), foundSum.data()}, {}, {0, count});
  EXPECT_TRUE(sameBits(foundY, y));
  EXPECT_TRUE(sameBits(foundSum, sum));
  runIn(kernels["rounded"], {x.data(), w.data(), x.data(), foundSum.data()}, {},
        {0, count});
  EXPECT_TRUE(sameBits(x, y));
  EXPECT_TRUE(sameBits(foundSum, sum));
}

#endif // TESSERA_TEST_CODEGEN_KERNELS_COLUMNSUMS_H
