//===- Int8Chunks.h - products of integers, chunk by chunk ------*- C++ -*-===//
// gemm with INT8_B: the library has no product of floats and integers. Columns
// of B are widened, which is exact, and then multiplied; a chunk is small
// enough for a large GPU's second-level cache.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_PRODUCTS_INT8CHUNKS_H
#define TESSERA_RUNTIME_CUDA_PRODUCTS_INT8CHUNKS_H

#include "runtime/cpu/GemmProblem.h"

#include <cstddef>

namespace tessera::cuda {

/// Integers [rows, columns] of a matrix whose rows are `ld` apart.
struct Integers {
  const int8_t *from;
  int64_t rows, columns, ld;

  /// Returns whether rows are pieces of four, at such addresses.
  bool inPieces() const {
    return reinterpret_cast<uintptr_t>(from) % 4 == 0 && ld % 4 == 0 &&
           columns % 4 == 0;
  }
};

/// Some columns of a product, whose B is what its integers become: contiguous.
struct Int8Chunk {
  Integers integers;
  GemmProblem product;
};

/// Returns "", or why device 'cuda' cannot run the product.
std::string checkInt8(const GemmProblem &problem);
/// Returns the columns of a chunk; the last one may have fewer.
int64_t int8Columns(const GemmProblem &problem);
/// Returns the bytes of what a chunk's integers become.
size_t int8WidenedBytes(const GemmProblem &problem);
/// Returns the columns from `first` on, a multiple of int8Columns.
Int8Chunk int8ChunkOf(const GemmProblem &problem, int64_t first, void *widened);

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_PRODUCTS_INT8CHUNKS_H
