//===- GemmProblem.cpp - Decodes and checks the arguments of gemm ---------===//

#include "runtime/cpu/GemmProblem.h"
#include "tessera/abi.h"
#include "tessera/tessera.h"

using namespace tessera;

static std::string badLeading(const char *name, int64_t have, int64_t need) {
  return std::string("gemm: leading dimension of ") + name + " is " +
         std::to_string(have) + ", at least " + std::to_string(need) +
         " is needed";
}

static std::string checkSizes(const GemmProblem &p) {
  if (p.m < 0 || p.n < 0 || p.k < 0 || p.batch < 0)
    return "gemm: negative size: m " + std::to_string(p.m) + ", n " +
           std::to_string(p.n) + ", k " + std::to_string(p.k) + ", batch " +
           std::to_string(p.batch);
  const int64_t a = p.transA ? p.m : p.k, b = p.transB ? p.k : p.n;
  if (p.lda < a)
    return badLeading("a", p.lda, a);
  if (p.ldb < b)
    return badLeading("b", p.ldb, b);
  return p.ldc < p.n ? badLeading("c", p.ldc, p.n) : "";
}

static std::string checkEpilogue(const GemmProblem &p) {
  if (p.epilogue == TSR_GEMM_EPILOGUE_NONE && p.sumsOf == TSR_GEMM_SUMS_NONE)
    return "";
  const bool isGelu = p.epilogue == TSR_GEMM_EPILOGUE_GELU;
  const bool isGrad = p.epilogue == TSR_GEMM_EPILOGUE_GELU_GRAD;
  const bool sums = p.sumsOf == TSR_GEMM_SUMS_A || p.sumsOf == TSR_GEMM_SUMS_B;
  if (isGelu + isGrad + sums != 1 || (p.epilogue && p.sumsOf))
    return "gemm: epilogue " + std::to_string(p.epilogue) + " with sums " +
           std::to_string(p.sumsOf) +
           "; there are gelu (1) and gelu_grad (2), or sums of a (1) or b (2)";
  const char *name = isGelu ? "gelu" : isGrad ? "gelu_grad" : "sums";
  if (p.batch != 1)
    return std::string("gemm: ") + name + " of a batch of " +
           std::to_string(p.batch) + "; it must be 1";
  if ((p.bias && !isGelu) || (p.accumulate && !sums))
    return std::string("gemm: ") + name + " cannot have " +
           (p.bias && !isGelu ? "a bias" : "an accumulator");
  if (!(sums ? p.sums : p.aux))
    return std::string("gemm: ") + name + " without its buffer";
  return !sums && p.ldaux < p.n ? badLeading("aux", p.ldaux, p.n) : "";
}

/// Returns why a product cannot read integers: only plain ones do.
static std::string checkInt8(const GemmProblem &p) {
  if (!p.int8B || (p.batch == 1 && !p.transA && !p.epilogue && !p.sumsOf))
    return "";
  return "gemm: b of i8 in a batch of " + std::to_string(p.batch) +
         (p.transA ? " with a transposed" : "") + ", epilogue " +
         std::to_string(p.epilogue) + " and sums " + std::to_string(p.sumsOf) +
         "; it needs a batch of 1 and nothing else";
}

GemmTerms tessera::termsOf(const GemmProblem &p) {
  if (p.sumsOf == TSR_GEMM_SUMS_A)
    return {p.a, p.m, p.transA ? 1 : p.lda, p.k, p.transA ? p.lda : 1};
  return {p.b, p.n, p.transB ? p.ldb : 1, p.k, p.transB ? 1 : p.ldb};
}

GemmProblem tessera::plainProduct(const GemmProblem &problem) {
  GemmProblem plain = problem;
  if (problem.epilogue == TSR_GEMM_EPILOGUE_GELU) {
    plain.c = problem.aux;
    plain.ldc = problem.ldaux;
  }
  plain.epilogue = TSR_GEMM_EPILOGUE_NONE;
  plain.sumsOf = TSR_GEMM_SUMS_NONE;
  plain.aux = plain.sums = nullptr;
  return plain;
}

std::string tessera::checkChunks(const char *entry, int64_t size,
                                 int64_t chunks) {
  const bool isPower = chunks > 0 && (chunks & (chunks - 1)) == 0;
  if (isPower && size % chunks == 0)
    return "";
  return std::string(entry) + ": cannot cut " + std::to_string(size) +
         " into " + std::to_string(chunks) +
         " equal chunks; their number is a power of 2 that divides it";
}

int32_t tessera::decodeGemm(const int64_t *args, void *const *buffers,
                            GemmProblem *out, std::string *error) {
  GemmProblem p{args[TSR_GEMM_M],
                args[TSR_GEMM_N],
                args[TSR_GEMM_K],
                args[TSR_GEMM_LDA],
                args[TSR_GEMM_LDB],
                args[TSR_GEMM_LDC],
                args[TSR_GEMM_TRANS_A] != 0,
                args[TSR_GEMM_TRANS_B] != 0,
                args[TSR_GEMM_ACCUMULATE] != 0,
                args[TSR_GEMM_DTYPE_AB],
                args[TSR_GEMM_DTYPE_C],
                args[TSR_GEMM_BATCH],
                args[TSR_GEMM_STRIDE_A],
                args[TSR_GEMM_STRIDE_B],
                args[TSR_GEMM_STRIDE_C],
                buffers[0],
                buffers[1],
                buffers[2],
                buffers[3]};
  p.epilogue = args[TSR_GEMM_EPILOGUE];
  p.ldaux = args[TSR_GEMM_LD_AUX];
  p.sumsOf = args[TSR_GEMM_SUMS];
  p.int8B = args[TSR_GEMM_INT8_B] != 0;
  p.aux = p.epilogue ? buffers[4] : nullptr;
  p.sums = p.sumsOf ? buffers[5] : nullptr;
  const bool same = p.dtypeAB == p.dtypeC &&
                    (p.dtypeAB == TSR_DTYPE_F32 ||
                     p.dtypeAB == TSR_DTYPE_BF16 || p.dtypeAB == TSR_DTYPE_F64);
  if (!same && !(p.dtypeAB == TSR_DTYPE_BF16 && p.dtypeC == TSR_DTYPE_F32)) {
    *error = "gemm: dtypes " + std::to_string(p.dtypeAB) + " -> " +
             std::to_string(p.dtypeC) +
             " are not supported; use f32 -> f32 (0), bf16 (1) -> bf16 or f32, "
             "f64 -> f64 (2)";
    return TSR_UNSUPPORTED;
  }
  std::string message = checkSizes(p);
  if (message.empty())
    message = checkEpilogue(p);
  if (message.empty())
    message = checkInt8(p);
  if (!message.empty()) {
    *error = std::move(message);
    return TSR_INVALID_ARGUMENT;
  }
  *out = p;
  return 0;
}
