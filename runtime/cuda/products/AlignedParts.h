//===- AlignedParts.h - Products of odd sizes for tensor cores --*- C++ -*-===//
// Tensor cores move 16 bytes at a time, and the library's fast kernels need
// every size of a product to be a multiple of that, not only the leading
// dimensions: with GPT-2's 50257 tokens in place of 50256, an H100 takes
// several times as long. So a large product of an odd size is computed in two
// parts: the largest multiple and the few rows, columns or terms that are left.
// Needs no CUDA.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_PRODUCTS_ALIGNEDPARTS_H
#define TESSERA_RUNTIME_CUDA_PRODUCTS_ALIGNEDPARTS_H

#include "runtime/cpu/GemmProblem.h"

#include <vector>

namespace tessera::cuda {

/// Terms (m * n * k) from which a second product is worth its launch.
constexpr int64_t leastTermsInParts = int64_t(1) << 33;

/// Products that follow each other and together are `problem`, which alone is
/// all of them unless it is a bf16 product of at least `leastTerms` terms with
/// a size that is no multiple of 8. Terms that are left come first, so that the
/// large sum is rounded once.
std::vector<GemmProblem> alignedParts(const GemmProblem &problem,
                                      int64_t leastTerms = leastTermsInParts);

/// Products that follow each other in place of one with terms: those of a batch
/// that adds up in one C, else its aligned parts.
std::vector<GemmProblem> piecesOf(const GemmProblem &problem);

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_PRODUCTS_ALIGNEDPARTS_H
