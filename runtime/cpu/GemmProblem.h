//===- GemmProblem.h - The arguments of gemm, decoded -----------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_CPU_GEMMPROBLEM_H
#define TESSERA_RUNTIME_CPU_GEMMPROBLEM_H

#include "tessera/abi.h"

#include <cstdint>
#include <string>

namespace tessera {

/// Sizes, strides and leading dimensions in elements, as in TSR_GEMM_*.
struct GemmProblem {
  int64_t m, n, k, lda, ldb, ldc;
  bool transA, transB, accumulate;
  int64_t dtypeAB, dtypeC; ///< B's is dtypeB().
  int64_t batch, strideA, strideB, strideC;
  const void *a, *b;
  void *c;
  const void *bias; /* may be null */
  /* chunked_gemm: k is [outer, chunks, rest]; chunks 0: k is one chain. */
  int64_t chunks = 0, outer = 1;
  /* TSR_GEMM_EPILOGUE_*, TSR_GEMM_SUMS_* */
  int64_t epilogue = 0, ldaux = 0, sumsOf = 0;
  void *aux = nullptr, *sums = nullptr;
  bool int8B = false;

  int64_t dtypeB() const { return int8B ? int64_t(TSR_DTYPE_I8) : dtypeAB; }
};

/// The rows and columns of C that one thread computes.
struct GemmRegion {
  int64_t rowBegin, rowEnd, columnBegin, columnEnd;
  bool isEmpty() const {
    return rowBegin >= rowEnd || columnBegin >= columnEnd;
  }
};

/// Decodes and checks args; returns 0 or a tsr_status with *error set.
int32_t decodeGemm(const int64_t *args, void *const *buffers, GemmProblem *out,
                   std::string *error);

/// Returns why `size` cannot be cut into chunks; empty if it can.
std::string checkChunks(const char *entry, int64_t size, int64_t chunks);

/// Computes the products that oneDNN supports: f32, and bf16 if the processor
/// has fast bf16 instructions. Returns 0 or a tsr_status with *error set.
int32_t libraryGemm(int threads, const GemmProblem &problem,
                    std::string *error);

/// Our own products: every type on every processor, bf16 by widening to f32.
/// The bits of the result do not depend on the number of threads.
int32_t blockedGemm(int threads, const GemmProblem &problem,
                    std::string *error);

/// Products of at most a few rows of f32 or bf16: they cost what it takes to
/// read B once. The bits of a row depend neither on other rows nor on the
/// threads.
constexpr int64_t kFewRows = 8;
bool hasFewRows(const GemmProblem &problem);
/// Returns 0 or a tsr_status with *error set.
int32_t fewRowsGemm(int threads, const GemmProblem &problem,
                    std::string *error);

/// Columns that one thread computes together, and whose sums lie together.
constexpr int64_t kFewRowsStrip = 64;
/// A slice of some terms, for some columns, of whole strips. If B is not
/// transposed, its rows are summed in slices, so that a thread reads memory in
/// one piece.
struct FewRowsSlice {
  int64_t termBegin, termEnd, columnBegin, columnEnd;
};
/// Numbers that a slice leaves: of each strip, for each row of A, its sums.
static inline int64_t fewRowsSums(const GemmProblem &p) {
  return (p.n + kFewRowsStrip - 1) / kFewRowsStrip * kFewRowsStrip * p.m;
}

/// Returns the instructions that oneDNN may use, a dnnl_cpu_isa_t: those of the
/// path of this process. The first call must precede oneDNN's first kernel.
int libraryIsa();

/// Applies the epilogue and makes the sums after a product. The product itself
/// is the problem's `plainProduct`.
void gemmEpilogue(int threads, const GemmProblem &problem);

/// The sums beside a product: `count` sums, of numbers `step` elements apart,
/// each of `terms` that lie `termStep` apart.
struct GemmTerms {
  const void *data;
  int64_t count, step, terms, termStep;
};
GemmTerms termsOf(const GemmProblem &problem);

/// Returns the problem without epilogue and sums: with GELU its result is aux.
GemmProblem plainProduct(const GemmProblem &problem);

/// The library or the blocked kernels compute a product; its types and the
/// processor decide.
enum class GemmPath { Library, Blocked };
GemmPath gemmPath(const GemmProblem &problem);

} // namespace tessera

#endif // TESSERA_RUNTIME_CPU_GEMMPROBLEM_H
