//===- ProductTest.cpp - gemm on the GPU against the CPU's ----------------===//

#include "runtime/cpu/CpuEntries.h"
#include "test/Runtime/cpu/TestBuffer.h"
#include "test/Runtime/cuda/GpuWorld.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace gpu;
using tessera::test::Buffer;

namespace {

struct Types {
  int64_t ab, c;
};

struct Product {
  int64_t m, n, k;
  Types types;
  int flags; ///< 1: trans_a, 2: trans_b, 4: accumulate, 8: bias, 16: padded
  int64_t batch = 1;
  bool int8B = false;
  /// The first half of the terms is large, the second takes it away again.
  bool cancels = false;
};

struct Operands {
  explicit Operands(const Product &p) {
    int64_t pad = p.flags & 16 ? 3 : 0;
    bool transA = p.flags & 1, transB = p.flags & 2;
    int64_t lda = (transA ? p.m : p.k) + pad, ldb = (transB ? p.k : p.n) + pad;
    int64_t ldc = p.n + pad;
    int64_t strideA = (transA ? p.k : p.m) * lda;
    int64_t strideB = (transB ? p.n : p.k) * ldb, strideC = p.m * ldc;
    args = {p.m,        p.n,       p.k,
            lda,        ldb,       ldc,
            transA,     transB,    (p.flags & 4) != 0,
            p.types.ab, p.types.c, p.batch,
            strideA,    strideB,   strideC,
            0,          0,         0,
            p.int8B};
    a = Buffer(p.types.ab, strideA * p.batch);
    b = Buffer(p.int8B ? int64_t(TSR_DTYPE_I8) : p.types.ab, strideB * p.batch);
    c = Buffer(p.types.c, strideC * p.batch);
    bias = Buffer(p.types.c, p.n);
    // Integers: sums are exact in every order, so equality is asked for. What
    // is rounded to bf16 is exact up to 256, before and after a bias.
    const int bound = p.k > 64 ? 1 : 3;
    a.fillIntegers(1, bound);
    b.fillIntegers(2, bound);
    c.fillIntegers(3, 3);
    bias.fillIntegers(4, 3);
    if (p.cancels)
      cancelTerms(p);
  }
  /// Makes the terms of plain, unpadded operands cancel.
  void cancelTerms(const Product &p) {
    for (int64_t i = 0; i < a.size(); ++i)
      a.set(i, i % p.k < p.k / 2 ? 1 : -1);
    for (int64_t i = 0; i < b.size(); ++i)
      b.set(i, b.get(i) + 2);
  }
  std::vector<int64_t> args;
  Buffer a, b, c, bias;
};

std::vector<unsigned char> bytesOf(Buffer &buffer) {
  auto *data = static_cast<unsigned char *>(buffer.data());
  return {data, data + buffer.size() *
                           (static_cast<unsigned char *>(buffer.at(1)) - data)};
}

/// Each operand has `room` bytes.
void compare(const Product &p, int64_t room = 1 << 20) {
  const int64_t places[] = {0, room, 2 * room, 3 * room};
  Operands x(p);
  World world(single(4 * room, [&](const Program &program) {
    return program.call(
        program.frame.api->gemm,
        {program.at(places[0]), program.at(places[1]), program.at(places[2]),
         p.flags & 8 ? program.at(places[3]) : nullptr, nullptr, nullptr},
        x.args);
  }));
  Buffer *buffers[] = {&x.a, &x.b, &x.c, &x.bias};
  for (int i = 0; i < 4; ++i)
    world.write(0, places[i], bytesOf(*buffers[i]));
  tessera::Status status = world.step();
  ASSERT_TRUE(status.ok()) << status.message;
  void *host[] = {x.a.data(), x.b.data(), x.c.data(),
                  p.flags & 8 ? x.bias.data() : nullptr};
  std::string error;
  ASSERT_EQ(tessera::cpuGemm(1, host, x.args.data(), &error), 0) << error;
  if (p.types.c == TSR_DTYPE_BF16)
    for (int64_t i = 0; i < x.c.size(); ++i)
      ASSERT_FALSE(std::abs(x.c.get(i)) > 256) << "the test is not exact";
  std::vector<unsigned char> wanted = bytesOf(x.c);
  ASSERT_EQ(world.read<unsigned char>(0, places[2], wanted.size()), wanted)
      << "m " << p.m << " n " << p.n << " k " << p.k << " types " << p.types.ab
      << " " << p.types.c << " flags " << p.flags << " batch " << p.batch;
}

const Types types[] = {{TSR_DTYPE_F32, TSR_DTYPE_F32},
                       {TSR_DTYPE_BF16, TSR_DTYPE_F32},
                       {TSR_DTYPE_BF16, TSR_DTYPE_BF16},
                       {TSR_DTYPE_F64, TSR_DTYPE_F64}};

TEST(GpuProduct, AllFormsAndTypesAreExact) {
  for (const Types &type : types)
    for (int flags = 0; flags < 32; ++flags)
      compare({24, 40, 16, type, flags});
}

TEST(GpuProduct, OddShapesAreExact) {
  const int64_t shapes[][3] = {
      {1, 1, 1}, {7, 65, 33}, {13, 1, 300}, {1, 70, 9}};
  for (const auto &s : shapes)
    for (const Types &type : types)
      for (int flags : {0, 3, 12, 31})
        compare({s[0], s[1], s[2], type, flags});
}

TEST(GpuProduct, BatchesAndNoTermsAreExact) {
  for (const Types &type : types)
    for (int flags : {0, 1, 2, 15, 28}) {
      compare({9, 20, 17, type, flags, 3});
      compare({5, 7, 0, type, flags});
    }
}

/// In one chunk and in several, of columns and of rows of B.
TEST(GpuProduct, OfIntegersAreExact) {
  for (int64_t type : {0, 1, 2})
    for (int flags : {0, 2, 8, 12, 14, 16, 26, 30}) {
      compare({24, 40, 16, types[type], flags, 1, true});
      compare({3, 13, 7, types[type], flags, 1, true});
    }
  compare({2, 7, 0, types[0], 8, 1, true});
  for (int flags : {8, 18})
    for (int64_t type : {0, 2})
      compare({2, 5003, type == 0 ? 1024 : 2048, types[type], flags, 1, true},
              12 << 20);
}

/// A library may cut a product with few results into parts of its terms. Their
/// sums here are near 2048, where bf16 knows only every 8th or 16th integer.
TEST(GpuProduct, Bf16SumsAreInF32) {
  for (int flags : {0, 8})
    for (int64_t columns : {8, 4096})
      compare({2, columns, 2048, types[2], flags, 1, false, true}, 18 << 20);
}

TEST(GpuProduct, RefusalIsTheCpus) {
  Operands x({4, 5, 6, types[0], 0});
  x.args[TSR_GEMM_LDA] = 5;
  // Before any work: when the rank is made.
  try {
    World world(single(4096, [&](const Program &program) {
      return program.call(program.frame.api->gemm,
                          {program.at(0), program.at(0), program.at(0), nullptr,
                           nullptr, nullptr},
                          x.args);
    }));
    FAIL() << "no error";
  } catch (const tessera::Error &error) {
    EXPECT_NE(std::string(error.what())
                  .find("leading dimension of a is 5, at least 6"),
              std::string::npos)
        << error.what();
  }
}

} // namespace
