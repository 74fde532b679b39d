//===- Int8Chunks.cpp - products of integers, chunk by chunk --------------===//

#include "runtime/cuda/products/Int8Chunks.h"

#include <algorithm>

using namespace tessera;
using namespace tessera::cuda;

/// A part of the 40 to 50 MB of a GPU's second-level cache. An estimate: to be
/// measured on a GPU.
static constexpr int64_t kChunkBytes = int64_t(16) << 20;

static int64_t floatBytes(int64_t dtype) {
  return dtype == TSR_DTYPE_BF16 ? 2 : 4;
}

std::string tessera::cuda::checkInt8(const GemmProblem &p) {
  return p.int8B && p.dtypeAB == TSR_DTYPE_F64
             ? "gemm: b of i8 beside f64 is not supported on device 'cuda'; "
               "use f32 or bf16"
             : "";
}

int64_t tessera::cuda::int8Columns(const GemmProblem &p) {
  const int64_t column = std::max<int64_t>(p.k, 1) * floatBytes(p.dtypeAB);
  const int64_t fitting = std::max<int64_t>(kChunkBytes / column, 1);
  if (fitting >= p.n)
    return std::max<int64_t>(p.n, 1);
  return fitting < 8 ? fitting : fitting / 8 * 8; // keeps aligned rows aligned
}

size_t tessera::cuda::int8WidenedBytes(const GemmProblem &p) {
  return size_t(p.k * int8Columns(p) * floatBytes(p.dtypeAB));
}

Int8Chunk tessera::cuda::int8ChunkOf(const GemmProblem &p, int64_t first,
                                     void *widened) {
  const int64_t count = std::min(int8Columns(p), p.n - first);
  const auto *b = static_cast<const int8_t *>(p.b);
  const int64_t bytes = first * floatBytes(p.dtypeC);
  Int8Chunk chunk;
  chunk.integers = p.transB ? Integers{b + first * p.ldb, count, p.k, p.ldb}
                            : Integers{b + first, p.k, count, p.ldb};
  chunk.product = p;
  chunk.product.int8B = false;
  chunk.product.n = count;
  chunk.product.b = widened;
  chunk.product.ldb = chunk.integers.columns;
  chunk.product.c = static_cast<char *>(p.c) + bytes;
  if (p.bias)
    chunk.product.bias = static_cast<const char *>(p.bias) + bytes;
  return chunk;
}
