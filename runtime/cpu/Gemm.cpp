//===- Gemm.cpp - The entry `gemm` ----------------------------------------===//

#include "runtime/cpu/CpuEntries.h"
#include "runtime/cpu/CpuKernels.h"
#include "runtime/cpu/GemmProblem.h"
#include "tessera/tessera.h"

#include <exception>
#include <oneapi/dnnl/dnnl.h>

using namespace tessera;

/// Returns whether bf16 instructions beat widening to f32. Intel's cores
/// without AMX run vdpbf16ps at a quarter of the rate of FMA, so oneDNN's bf16
/// products reach 100 GFLOP/s per core there and our widening ones 170; Zen 4
/// runs it at full rate.
static bool hasFastBf16() {
#if defined(__x86_64__)
  const int isa = libraryIsa();
  if (isa == dnnl_cpu_isa_avx512_core_amx)
    return true;
  return isa == dnnl_cpu_isa_avx512_core_bf16 && !__builtin_cpu_is("intel");
#else
  return false;
#endif
}

GemmPath tessera::gemmPath(const GemmProblem &p) {
  static const bool fastBf16 = hasFastBf16();
  if (p.dtypeAB == TSR_DTYPE_F64 || p.int8B || !usesLibrary())
    return GemmPath::Blocked;
  // A zero stride repeats a matrix, which oneDNN cannot describe for C.
  if (p.batch > 1 && (p.strideA == 0 || p.strideB == 0 || p.strideC == 0))
    return GemmPath::Blocked;
  const bool library = p.dtypeAB == TSR_DTYPE_F32 ? p.transA : fastBf16;
  return library ? GemmPath::Library : GemmPath::Blocked;
}

static int32_t run(int threads, const GemmProblem &p, std::string *error) {
  if (p.m == 0 || p.n == 0 || p.batch == 0)
    return 0;
  if (hasFewRows(p))
    return fewRowsGemm(threads, p, error);
  if (p.k > 0 && p.chunks == 0 && gemmPath(p) == GemmPath::Library)
    return libraryGemm(threads, p, error);
  return blockedGemm(threads, p, error);
}

int32_t tessera::cpuChunkedGemm(int threads, void *const *buffers,
                                const int64_t *args, std::string *error) try {
  GemmProblem p;
  if (int32_t status = decodeGemm(args, buffers, &p, error))
    return status;
  if (p.epilogue || p.sumsOf) {
    *error = "chunked_gemm: has no epilogues and sums";
    return TSR_INVALID_ARGUMENT;
  }
  p.chunks = args[TSR_CHUNKED_GEMM_CHUNKS];
  p.outer = args[TSR_CHUNKED_GEMM_OUTER];
  const int64_t inner = p.outer > 0 && p.k % p.outer == 0 ? p.k / p.outer : -1;
  *error = checkChunks("chunked_gemm", inner, p.chunks);
  if (p.int8B)
    *error = "chunked_gemm: b of i8 is not supported; use f32 or f64";
  if (p.dtypeAB != p.dtypeC || p.dtypeAB == TSR_DTYPE_BF16)
    *error = "chunked_gemm: dtypes " + std::to_string(p.dtypeAB) + " -> " +
             std::to_string(p.dtypeC) + " are not supported; use f32 or f64";
  return error->empty() ? run(threads, p, error) : TSR_INVALID_ARGUMENT;
} catch (const std::exception &failure) {
  *error = std::string("chunked_gemm: ") + failure.what();
  return TSR_INTERNAL;
}

int32_t tessera::cpuGemm(int threads, void *const *buffers, const int64_t *args,
                         std::string *error) try {
  GemmProblem p;
  if (int32_t status = decodeGemm(args, buffers, &p, error))
    return status;
  if (int32_t status = run(threads, plainProduct(p), error))
    return status;
  gemmEpilogue(threads, p);
  return 0;
} catch (const std::exception &failure) {
  *error = std::string("gemm: ") + failure.what();
  return TSR_INTERNAL;
}
