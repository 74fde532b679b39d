//===- StandInCpuProducts.cpp - products by the CPU's entry ---------------===//
// In the place of MatrixProducts.cpp, for programs whose bits are compared with
// those of the CPU's runtime.

#include "runtime/cpu/CpuEntries.h"
#include "runtime/cuda/products/MatrixProducts.h"
#include "tessera/abi.h"
#include "test/Runtime/cuda/StandInStream.h"

#include <cstdlib>

namespace tessera::cuda {

struct MatrixProducts::Plan {};
MatrixProducts::MatrixProducts() {}
MatrixProducts::~MatrixProducts() {}
void MatrixProducts::prepare(const GemmProblem &) {}

void MatrixProducts::run(const GemmProblem &p, void *, cudaStream_t stream) {
  stream->push([p] {
    std::vector<int64_t> args(TSR_GEMM_ARGS);
    const std::pair<int, int64_t> named[] = {
        {TSR_GEMM_M, p.m},
        {TSR_GEMM_N, p.n},
        {TSR_GEMM_K, p.k},
        {TSR_GEMM_LDA, p.lda},
        {TSR_GEMM_LDB, p.ldb},
        {TSR_GEMM_LDC, p.ldc},
        {TSR_GEMM_TRANS_A, p.transA},
        {TSR_GEMM_TRANS_B, p.transB},
        {TSR_GEMM_ACCUMULATE, p.accumulate},
        {TSR_GEMM_DTYPE_AB, p.dtypeAB},
        {TSR_GEMM_DTYPE_C, p.dtypeC},
        {TSR_GEMM_BATCH, p.batch},
        {TSR_GEMM_STRIDE_A, p.strideA},
        {TSR_GEMM_STRIDE_B, p.strideB},
        {TSR_GEMM_STRIDE_C, p.strideC},
        {TSR_GEMM_EPILOGUE, p.epilogue},
        {TSR_GEMM_LD_AUX, p.ldaux},
        {TSR_GEMM_SUMS, p.sumsOf},
        {TSR_GEMM_INT8_B, p.int8B}};
    static_assert(std::size(named) == TSR_GEMM_ARGS);
    for (auto [index, value] : named)
      args[index] = value;
    void *buffers[] = {const_cast<void *>(p.a),
                       const_cast<void *>(p.b),
                       p.c,
                       const_cast<void *>(p.bias),
                       p.aux,
                       p.sums};
    std::string error;
    if (cpuGemm(1, buffers, args.data(), &error) != 0)
      std::abort();
  });
}

} // namespace tessera::cuda
