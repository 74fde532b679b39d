//===- ChunkedSums.h - sums in an order that no mesh changes ----*- C++ -*-===//

#ifndef TESSERA_LIB_LOWER_CHUNKEDSUMS_H
#define TESSERA_LIB_LOWER_CHUNKEDSUMS_H

#include "tessera/Dialect/NN/NN.h"

namespace tessera {

/// The cut of the factors that an op contracts: [outer, chunks, rest].
struct SumChunks {
  int64_t chunks = 1, outer = 1;
};
/// Returns the cut that `dist.chunked_sums` gives, for the contracted letters
/// in their order in memory; nullopt without it.
std::optional<SumChunks> sumChunksOf(mlir::Operation *op,
                                     llvm::StringRef letters,
                                     llvm::ArrayRef<int64_t> sizes);

/// Does the einsum, no matrix product, add a factor in chunks?
bool isChunkedSum(nn::EinsumOp op);

/// sum x1 * x2 * ... -> ones . (x1 * x2 * ...), a product that adds chunks as a
/// tree, in front of the einsum. Null and an error where neither the first nor
/// the last factors are the contracted ones.
mlir::Value lowerChunkedSum(nn::EinsumOp op);

} // namespace tessera

#endif // TESSERA_LIB_LOWER_CHUNKEDSUMS_H
