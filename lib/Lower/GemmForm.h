//===- GemmForm.h - an einsum as one matrix product -------------*- C++ -*-===//

#ifndef TESSERA_LIB_LOWER_GEMMFORM_H
#define TESSERA_LIB_LOWER_GEMMFORM_H

#include "tessera/Dialect/NN/NN.h"
#include <optional>

namespace tessera {

/// c[m,n] = op(a) op(b), row-major and contiguous.
struct GemmForm {
  unsigned a = 0, b = 1; ///< Operands of the einsum.
  int64_t m = 1, n = 1, k = 1;
  bool transA = false, transB = false;
  std::string nFactors; ///< Letters of n, for folding a bias.
  std::string kFactors;
  llvm::SmallVector<int64_t> kSizes; ///< The sizes of kFactors, one by one.

  int64_t lda() const { return transA ? m : k; }
  int64_t ldb() const { return transB ? k : n; }
};

/// Returns the matrix product that computes a contraction; nullopt where its
/// factors are not contiguous.
std::optional<GemmForm> gemmForm(nn::EinsumOp op);

} // namespace tessera

#endif // TESSERA_LIB_LOWER_GEMMFORM_H
