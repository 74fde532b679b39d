//===- KernelHarness.h - compile kernels and run them -----------*- C++ -*-===//
// Text to a loaded shared object, and arrays that fault on the element after
// their end: masked accesses must not touch it.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_TEST_CODEGEN_KERNELS_KERNELHARNESS_H
#define TESSERA_TEST_CODEGEN_KERNELS_KERNELHARNESS_H

#include "tessera/abi.h"
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

/// Returns a file of kernels/ with `${NAME}` replaced.
std::string instantiate(const std::string &file,
                        const std::map<std::string, std::string> &values);

/// Returns the text with rows of that type, RxCxT, beginning every `stride`
/// elements.
std::string withRowStride(const std::string &text, const std::string &type,
                          int64_t stride);

class LoadedKernels {
public:
  /// Compiles for this machine, or with `vectorBits` for a narrower one; fails
  /// the test (and aborts it) where that is not possible.
  static LoadedKernels compile(const std::string &text,
                               unsigned vectorBits = 0);
  /// Compiles for a GPU; the kernels are in the image and cannot be run.
  static LoadedKernels compileImage(const std::string &text);
  ~LoadedKernels();
  LoadedKernels(LoadedKernels &&other) : handle(other.handle) {
    other.handle = nullptr;
  }
  tsr_abi_kernel operator[](const char *name) const;
  const tsr_abi_device_image &image() const;

private:
  explicit LoadedKernels(void *handle) : handle(handle) {}
  void *handle;
};

struct bfloat16 {
  uint16_t bits = 0;
  bfloat16() = default;
  bfloat16(float value) {
    uint32_t wide;
    std::memcpy(&wide, &value, 4);
    bits = (wide + 0x7FFF + ((wide >> 16) & 1)) >> 16;
  }
  operator float() const {
    uint32_t wide = uint32_t(bits) << 16;
    float value;
    std::memcpy(&value, &wide, 4);
    return value;
  }
};

/// Pages whose last byte is followed by memory that cannot be accessed.
void *allocateGuarded(size_t bytes);
void freeGuarded(void *data, size_t bytes);

template <typename T> class Array {
public:
  explicit Array(size_t size)
      : count(size),
        values(static_cast<T *>(allocateGuarded(size * sizeof(T)))) {}
  Array(const Array &other) : Array(other.count) {
    std::memcpy(values, other.values, count * sizeof(T));
  }
  ~Array() { freeGuarded(values, count * sizeof(T)); }
  Array &operator=(const Array &) = delete;
  T &operator[](size_t i) { return values[i]; }
  const T &operator[](size_t i) const { return values[i]; }
  size_t size() const { return count; }
  T *data() const { return values; }

  static Array random(size_t size, unsigned seed, double low = -2,
                      double high = 2) {
    Array result(size);
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> values(low, high);
    for (size_t i = 0; i < size; ++i)
      result[i] = static_cast<T>(values(engine));
    return result;
  }

private:
  size_t count;
  T *values;
};

template <typename T> bool sameBits(const Array<T> &a, const Array<T> &b) {
  return a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

/// |actual - expected| <= tolerance (1 + |expected|) everywhere.
template <typename T>
::testing::AssertionResult near(const Array<T> &actual,
                                const std::vector<double> &expected,
                                double tolerance) {
  for (size_t i = 0; i < expected.size(); ++i) {
    double difference = std::abs(double(actual[i]) - expected[i]);
    if (!(difference <= tolerance * (1 + std::abs(expected[i]))))
      return ::testing::AssertionFailure()
             << "element " << i << " is " << double(actual[i]) << ", not "
             << expected[i];
  }
  return ::testing::AssertionSuccess();
}

/// Runs [0, count) cut at the given points.
void runIn(tsr_abi_kernel kernel, std::vector<void *> buffers,
           std::vector<int64_t> scalars, std::vector<int64_t> cuts);

#endif // TESSERA_TEST_CODEGEN_KERNELS_KERNELHARNESS_H
