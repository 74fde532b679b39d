//===- SamplingSuite.cpp - Sampling against the CPU's entries -------------===//

#include "test/Runtime/cuda/sampling/SamplingSuite.h"

#include "runtime/cpu/CpuEntries.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace tessera;
using namespace tessera::test;

namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Returns logits [rows, valid + padding], with many equal ones; some are NaN
/// or -inf.
Buffer logitsOf(int64_t rows, int64_t valid, int64_t padding) {
  Buffer logits(TSR_DTYPE_F32, rows * (valid + padding)); // NaN so far
  std::mt19937 random(static_cast<unsigned>(valid));
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t k = 0; k < valid; ++k) {
      const int64_t kind = random() % 50;
      logits.set(row * (valid + padding) + k,
                 kind == 0   ? kNan
                 : kind == 1 ? kNone
                             : double(int64_t(random() % 99) - 49) / 4);
    }
  return logits;
}

Buffer integers(const std::vector<int32_t> &values) {
  Buffer made(TSR_DTYPE_I32, int64_t(values.size()));
  std::memcpy(made.data(), values.data(), values.size() * sizeof(int32_t));
  return made;
}

Buffer numbers(const std::vector<double> &values) {
  Buffer made(TSR_DTYPE_F32, int64_t(values.size()));
  for (size_t i = 0; i < values.size(); ++i)
    made.set(int64_t(i), values[i]);
  return made;
}

/// Replaces every NaN by one: that of a result is another on a GPU than on a
/// CPU (CUDA C++ Programming Guide, "Floating-Point Standard").
Buffer withOneNan(Buffer numbers) {
  for (int64_t i = 0; i < numbers.size(); ++i)
    if (std::isnan(numbers.get(i)))
      numbers.set(i, kNan);
  return numbers;
}

using Entry = int32_t (*)(int, void *const *, const int64_t *, std::string *);

/// Computes the same buffers on the CPU.
std::vector<Buffer> onCpu(Entry entry, const std::vector<int64_t> &args,
                          std::vector<Buffer> buffers) {
  std::vector<void *> at;
  for (Buffer &buffer : buffers)
    at.push_back(buffer.data());
  at.push_back(nullptr);
  at.push_back(nullptr);
  std::string error;
  EXPECT_EQ(entry(1, at.data(), args.data(), &error), 0) << error;
  return buffers;
}

} // namespace

void tessera::test::expectTopOfCpu(const CacheBackend &backend) {
  for (auto [valid, padding] : {std::pair<int64_t, int64_t>{1, 0},
                                {0, 5},
                                {61, 3},
                                {700, 1},
                                {3000, 0}})
    for (int64_t count : {1, 5, 70}) {
      const std::vector<int64_t> args = {
          3, valid + padding, 40, valid, 4000, count, 0, TSR_DTYPE_F32};
      std::vector<Buffer> found = {logitsOf(3, valid, padding),
                                   Buffer(TSR_DTYPE_F32, 3 * count * 2)};
      const std::vector<Buffer> wanted = onCpu(cpuTop, args, found);
      backend(TSR_ENTRY_TOP, args, found, 1);
      EXPECT_TRUE(found[1] == wanted[1]) << valid << ", lists of " << count;
    }
}

void tessera::test::expectDrawsOfCpu(const CacheBackend &backend) {
  for (int64_t count : {1, 3})
    for (int32_t position : {0, 7, 5000}) {
      const std::vector<int64_t> args = {3,    905,   1000, 900,
                                         5000, count, 1,    TSR_DTYPE_F32};
      std::vector<Buffer> found = {
          logitsOf(3, 900, 5), Buffer(TSR_DTYPE_F32, 3 * count * 3),
          numbers({1 / 0.7, 1, 2}),
          integers({-3, 8, position, 4, -1, -1, 0, 0, position})};
      const std::vector<Buffer> wanted = onCpu(cpuTop, args, found);
      backend(TSR_ENTRY_TOP, args, found, 1);
      for (int64_t i = 0; i < found[1].size(); i += 3) {
        EXPECT_NEAR(found[1].get(i), wanted[1].get(i), 1e-5);
        EXPECT_EQ(found[1].get(i + 1), wanted[1].get(i + 1));
        EXPECT_EQ(found[1].get(i + 2), wanted[1].get(i + 2));
      }
    }
}

void tessera::test::expectMergedOfCpu(const CacheBackend &backend) {
  constexpr int64_t rows = 2;
  for (int64_t ranks : {1, 2, 3, 9})
    for (int64_t count : {1, 4, 100})
      for (bool drawn : {false, true}) {
        const std::vector<int64_t> args = {ranks, rows, count, drawn ? 3 : 2,
                                           TSR_DTYPE_F32};
        std::vector<Buffer> found = {
            numbers({}), Buffer(TSR_DTYPE_F32, rows * count * args[3])};
        std::vector<double> parts;
        for (int64_t rank = 0; rank < ranks; ++rank) {
          const std::vector<int64_t> own = {rows,      31,           rank * 31,
                                            20 + rank, ranks * 31,   count,
                                            drawn,     TSR_DTYPE_F32};
          std::vector<Buffer> buffers = {
              logitsOf(rows, 20 + rank, 11 - rank),
              Buffer(TSR_DTYPE_F32, rows * count * args[3])};
          if (drawn) {
            buffers.push_back(numbers({1, 1.5}));
            buffers.push_back(integers({1, 2, 3, 4, 5, 6}));
          }
          const std::vector<Buffer> made = onCpu(cpuTop, own, buffers);
          for (int64_t i = 0; i < made[1].size(); ++i)
            parts.push_back(made[1].get(i));
        }
        found[0] = numbers(parts);
        const std::vector<Buffer> wanted = onCpu(cpuMergeTop, args, found);
        backend(TSR_ENTRY_MERGE_TOP, args, found, 1);
        EXPECT_TRUE(found[1] == wanted[1])
            << ranks << " ranks, lists of " << count;
      }
}

void tessera::test::expectPenaltiesOfCpu(const CacheBackend &backend) {
  std::vector<int32_t> tokens;
  std::mt19937 random(4);
  for (int k = 0; k < 3 * 600; ++k)
    tokens.push_back(static_cast<int32_t>(random() % 400) - 20);
  const std::vector<int64_t> args = {3, 200, 100, 190, 600, TSR_DTYPE_F32};
  std::vector<Buffer> found = {logitsOf(3, 190, 10), integers(tokens),
                               numbers({1.3, 1, 0.6})};
  const std::vector<Buffer> wanted = onCpu(cpuPenalize, args, found);
  backend(TSR_ENTRY_PENALIZE, args, found, 0);
  EXPECT_TRUE(withOneNan(found[0]) == withOneNan(wanted[0]));
}
