//===- LibraryGemm.cpp - Products that oneDNN computes --------------------===//
// oneDNN computes regions of C, each on one of the rank's threads: its own
// threads would be OpenMP's, see ThreadTeam.h. The order of its sums depends on
// the shape of what it computes, so regions follow from the product's shape,
// and the bits of the result do not depend on the number of threads.

#include "runtime/cpu/GemmCache.h"
#include "runtime/cpu/GemmRegions.h"
#include "runtime/cpu/Workspace.h"
#include "runtime/support/CpuPath.h"
#include "runtime/support/ThreadTeam.h"
#include "tessera/abi.h"
#include "tessera/tessera.h"

#include <algorithm>
#include <cstring>
#include <vector>

using namespace tessera;

// These are declared as omp.h does: a compiler that has another OpenMP library
// than oneDNN has another header, or none.
extern "C" int omp_get_max_threads() noexcept;
extern "C" void omp_set_num_threads(int threads) noexcept;

namespace {
/// oneDNN takes its number of threads from OpenMP's setting, which belongs to
/// the calling thread: set it to one for the time of a call.
class OneThread {
public:
  OneThread() : before(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(before); }

private:
  int before;
};
} // namespace

namespace {
/// A matrix in rows.
struct Operand {
  const float *data;
  int64_t rows, columns, row;
};
} // namespace

static dnnl_cpu_isa_t isaOf(CpuPath path) {
  switch (path) {
  case CpuPath::Baseline:
    return dnnl_cpu_isa_sse41;
  case CpuPath::Avx2:
    return dnnl_cpu_isa_avx2;
  case CpuPath::Avx512:
    return dnnl_cpu_isa_avx512_core;
  case CpuPath::Avx512Bf16:
    return dnnl_cpu_isa_avx512_core_bf16;
  case CpuPath::Amx:
    return dnnl_cpu_isa_avx512_core_amx;
  }
  return dnnl_cpu_isa_sse41;
}

int tessera::libraryIsa() {
  static const dnnl_cpu_isa_t isa = [] {
    if (isCpuPathChosen())
      dnnl_set_max_cpu_isa(isaOf(cpuPath()));
    return dnnl_get_effective_cpu_isa();
  }();
  return isa;
}

/// Returns whether oneDNN's sgemm has only kernels for vectors of at most 32
/// bytes.
static bool hasShortVectors() {
  constexpr int wide = dnnl_cpu_isa_avx512_core;
  static const bool isShort = (libraryIsa() & wide) != wide;
  return isShort;
}

/// Returns a copy of an operand that those kernels read down its columns, where
/// its rows lie a multiple of 2 KiB apart: all of a column then falls into few
/// cache sets, and a product of 1024 x 256 x 512 runs at 38 GFLOP/s on one core
/// (an EPYC with AVX2) instead of 81 with the copy. `reads`: how often each
/// element is used.
static Operand apart(const Operand &from, int64_t reads, Workspace &memory) {
  constexpr int64_t conflict = 512, gap = 16, least = 64;
  constexpr size_t most = size_t(8) << 20;
  const Operand to{nullptr, from.rows, from.columns, from.columns + gap};
  const size_t bytes = size_t(to.rows) * size_t(to.row) * sizeof(float);
  if (!hasShortVectors() || from.row % conflict != 0 || reads < least ||
      bytes > most)
    return from;
  auto *copy = static_cast<float *>(memory.reserve(bytes));
  if (!copy)
    return from;
  for (int64_t row = 0; row < from.rows; ++row)
    std::memcpy(copy + row * to.row, from.data + row * from.row,
                size_t(from.columns) * sizeof(float));
  return {copy, to.rows, to.columns, to.row};
}

/// Calls oneDNN's packing sgemm, with C started from the bias. The matmul
/// primitive does not pack plain f32 matrices and falls to half the rate where
/// rows lie a multiple of 4 KiB apart (768 x 3072: 90 against 190 GFLOP/s on
/// one core).
static int32_t packedProduct(const GemmProblem &p, std::string *error) {
  float *c = static_cast<float *>(p.c);
  const float *bias = static_cast<const float *>(p.bias);
  if (bias)
    for (int64_t m = 0; m < p.m; ++m)
      for (int64_t n = 0; n < p.n; ++n)
        c[m * p.ldc + n] = p.accumulate ? c[m * p.ldc + n] + bias[n] : bias[n];
  const float beta = p.accumulate || bias ? 1.0f : 0.0f;
  static thread_local Workspace copies[2];
  Operand a{static_cast<const float *>(p.a), p.k, p.m, p.lda};
  Operand b{static_cast<const float *>(p.b), p.k, p.n, p.ldb};
  if (p.transA)
    a = apart(a, p.n, copies[0]);
  if (!p.transB)
    b = apart(b, p.m, copies[1]);
  const dnnl_status_t status =
      dnnl_sgemm(p.transA ? 'T' : 'N', p.transB ? 'T' : 'N', p.m, p.n, p.k,
                 1.0f, a.data, a.row, b.data, b.row, beta, c, p.ldc);
  if (status == dnnl_success)
    return 0;
  *error = "gemm: onednn sgemm returned status " + std::to_string(status) +
           " for m " + std::to_string(p.m) + ", n " + std::to_string(p.n) +
           ", k " + std::to_string(p.k);
  return TSR_INTERNAL;
}

static int32_t product(const GemmProblem &p, std::string *error) try {
  OneThread oneThread;
  if (p.dtypeAB == TSR_DTYPE_F32 && p.batch == 1)
    return packedProduct(p, error);
  GemmCache::ofThisThread().run(p);
  return 0;
} catch (const std::exception &failure) {
  *error = "gemm: onednn matmul with m " + std::to_string(p.m) + ", n " +
           std::to_string(p.n) + ", k " + std::to_string(p.k) + ": " +
           failure.what();
  return TSR_INTERNAL;
}

/// Returns how many regions a product has: a power of 2, so that common numbers
/// of threads share them evenly. Up to 4 take a tenth of a millisecond each on
/// one core; more take half a millisecond each, as each packs its operands.
static int regionsOf(const GemmProblem &p) {
  constexpr double small = 1 << 23, large = 1 << 25;
  const double terms =
      double(p.m) * double(p.n) * double(p.k) * double(p.batch);
  const double worth = std::max(std::min(terms / small, 4.0), terms / large);
  int regions = 1;
  while (regions < 32 && 2 * regions <= worth)
    regions *= 2;
  return regions;
}

int32_t tessera::libraryGemm(int threads, const GemmProblem &p,
                             std::string *error) {
  libraryIsa();
  const GemmRegions regions(p, regionsOf(p));
  const int count = regions.count();
  const int parts = std::clamp(threads, 1, count);
  std::vector<int32_t> statuses(parts, 0);
  std::vector<std::string> errors(parts);
  inParallel(parts, [&](int part) {
    for (int i = count * part / parts; i < count * (part + 1) / parts; ++i)
      if (!regions.at(i).isEmpty() && statuses[part] == 0)
        statuses[part] = product(cutOut(p, regions.at(i)), &errors[part]);
  });
  for (int part = 0; part < parts; ++part)
    if (statuses[part] != 0) {
      *error = errors[part];
      return statuses[part];
    }
  return 0;
}
