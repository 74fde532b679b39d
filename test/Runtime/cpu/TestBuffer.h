//===- TestBuffer.h - Typed buffers with values in double -------*- C++ -*-===//
#ifndef TESSERA_TEST_RUNTIME_CPU_TESTBUFFER_H
#define TESSERA_TEST_RUNTIME_CPU_TESTBUFFER_H

#include "runtime/cpu/Bf16.h"
#include "tessera/abi.h"

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

namespace tessera::test {

/// SplitMix64 (Steele, Lea and Flood 2014): tests draw millions of numbers.
class RandomBits {
public:
  using result_type = uint64_t;

  explicit RandomBits(uint64_t seed) : state(seed) {}
  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() { return UINT64_MAX; }
  uint64_t operator()() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

private:
  uint64_t state;
};

/// A buffer of some TSR_DTYPE_*, read and written as double. Filled with a
/// signalling pattern first: reading what nobody wrote gives NaN.
class Buffer {
public:
  Buffer() = default;
  Buffer(int64_t dtype, int64_t count)
      : dtype(dtype), bytes(size_t(count) * elementBytes(dtype), 0xff) {}

  static size_t elementBytes(int64_t dtype) {
    return dtype == TSR_DTYPE_F64    ? 8
           : dtype == TSR_DTYPE_BF16 ? 2
           : dtype == TSR_DTYPE_I8   ? 1
                                     : 4;
  }
  int64_t size() const { return int64_t(bytes.size() / elementBytes(dtype)); }
  void *data() { return bytes.data(); }
  void *at(int64_t i) { return bytes.data() + size_t(i) * elementBytes(dtype); }
  const void *at(int64_t i) const {
    return bytes.data() + size_t(i) * elementBytes(dtype);
  }
  bool operator==(const Buffer &other) const { return bytes == other.bytes; }

  double get(int64_t i) const {
    const unsigned char *p = bytes.data() + size_t(i) * elementBytes(dtype);
    if (dtype == TSR_DTYPE_F64)
      return read<double>(p);
    if (dtype == TSR_DTYPE_BF16)
      return bf16ToFloat(read<Bf16>(p));
    if (dtype == TSR_DTYPE_I8)
      return read<int8_t>(p);
    return read<float>(p);
  }
  void set(int64_t i, double value) {
    if (dtype == TSR_DTYPE_F64)
      std::memcpy(at(i), &value, 8);
    const float single = float(value);
    if (dtype == TSR_DTYPE_F32)
      std::memcpy(at(i), &single, 4);
    const Bf16 half = floatToBf16(single);
    if (dtype == TSR_DTYPE_BF16)
      std::memcpy(at(i), &half, 2);
    if (dtype == TSR_DTYPE_I8)
      *static_cast<int8_t *>(at(i)) = int8_t(value);
  }
  void fill(double value) {
    for (int64_t i = 0; i < size(); ++i)
      set(i, value);
  }
  /// Small integers: sums of products are exact in every type and order.
  void fillIntegers(unsigned seed, int bound) {
    RandomBits random(seed);
    for (int64_t i = 0; i < size(); ++i)
      set(i, int(random() % unsigned(2 * bound + 1)) - bound);
  }
  void fillNormal(unsigned seed, double deviation = 1) {
    RandomBits random(seed);
    std::normal_distribution<double> normal(0, deviation);
    for (int64_t i = 0; i < size(); ++i)
      set(i, normal(random));
  }

private:
  template <typename T> static T read(const void *p) {
    T value;
    std::memcpy(&value, p, sizeof(T));
    return value;
  }

  int64_t dtype = 0;
  std::vector<unsigned char> bytes;
};

} // namespace tessera::test

#endif // TESSERA_TEST_RUNTIME_CPU_TESTBUFFER_H
