//===- ChunkedSums.h - sums in an order that no mesh changes ----*- C++ -*-===//

#ifndef TESSERA_LIB_LOWER_CHUNKEDSUMS_H
#define TESSERA_LIB_LOWER_CHUNKEDSUMS_H

#include "mlir/IR/PatternMatch.h"
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

/// Returns whether the einsum, no matrix product, adds a factor in chunks.
bool isChunkedSum(nn::EinsumOp op);

/// sum x1 * x2 * ... -> ones . (x1 * x2 * ...), a product that adds chunks as a
/// tree. Refuses an einsum whose contracted factors are neither the first nor
/// the last ones.
mlir::LogicalResult lowerChunkedSum(mlir::PatternRewriter &rewriter,
                                    nn::EinsumOp op);

} // namespace tessera

#endif // TESSERA_LIB_LOWER_CHUNKEDSUMS_H
