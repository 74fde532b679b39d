//===- GemmEpilogue.cpp - GELU, its gradient and sums beside a product ----===//
// For programs that were compiled for a device whose library has them: right
// first, a loop after the product.

#include "runtime/cpu/Bf16.h"
#include "runtime/cpu/GemmProblem.h"
#include "runtime/support/ThreadTeam.h"
#include "tessera/abi.h"
#include "tessera/tessera.h"

#include <algorithm>
#include <cmath>
#include <vector>

using namespace tessera;

namespace {
float narrow(float value, float) { return value; }
double narrow(double value, double) { return value; }
Bf16 narrow(float value, Bf16) { return floatToBf16(value); }

constexpr double kSqrt2OverPi = 0.79788456080286535588, kCubic = 0.044715;

template <class T> T geluTanhInner(T x) {
  return std::tanh(T(kSqrt2OverPi) * (x + T(kCubic) * x * x * x));
}

template <class T> T gelu(T x) { return T(0.5) * x * (1 + geluTanhInner(x)); }

template <class T> T geluGrad(T x) {
  const T t = geluTanhInner(x);
  const T slope = T(kSqrt2OverPi) * (1 + T(3 * kCubic) * x * x);
  return T(0.5) * (1 + t) + T(0.5) * x * (1 - t * t) * slope;
}

/// Part `part` of [0, size).
int64_t border(int64_t size, int part, int parts) {
  return size * part / parts;
}

template <class T> void applyRow(const GemmProblem &p, int64_t row) {
  T *c = static_cast<T *>(p.c) + row * p.ldc;
  const T *aux = static_cast<const T *>(p.aux) + row * p.ldaux;
  const bool isGrad = p.epilogue == TSR_GEMM_EPILOGUE_GELU_GRAD;
  for (int64_t n = 0; n < p.n; ++n) {
    const auto x = wide(aux[n]);
    c[n] = narrow(isGrad ? wide(c[n]) * geluGrad(x) : gelu(x), T());
  }
}

/// Sums in f64, in order: as exact as sums in f32 in any order.
template <class In, class Out>
void addTerms(const GemmProblem &p, int64_t begin, int64_t end) {
  const GemmTerms terms = termsOf(p);
  std::vector<double> sums(end - begin);
  const In *data = static_cast<const In *>(terms.data);
  for (int64_t k = 0; k < terms.terms; ++k)
    for (int64_t i = begin; i < end; ++i)
      sums[i - begin] += wide(data[i * terms.step + k * terms.termStep]);
  using Wide = decltype(wide(Out()));
  for (int64_t i = begin; i < end; ++i)
    static_cast<Out *>(p.sums)[i] =
        narrow(static_cast<Wide>(sums[i - begin]), Out());
}

void addTerms(const GemmProblem &p, int64_t begin, int64_t end) {
  if (p.dtypeAB == TSR_DTYPE_F64)
    return addTerms<double, double>(p, begin, end);
  if (p.dtypeAB == TSR_DTYPE_F32)
    return addTerms<float, float>(p, begin, end);
  if (p.dtypeC == TSR_DTYPE_F32)
    return addTerms<Bf16, float>(p, begin, end);
  return addTerms<Bf16, Bf16>(p, begin, end);
}

void applyRows(const GemmProblem &p, int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end; ++row)
    if (p.dtypeC == TSR_DTYPE_F64)
      applyRow<double>(p, row);
    else if (p.dtypeC == TSR_DTYPE_BF16)
      applyRow<Bf16>(p, row);
    else
      applyRow<float>(p, row);
}
} // namespace

void tessera::gemmEpilogue(int threads, const GemmProblem &p) {
  if (!p.epilogue && !p.sumsOf)
    return;
  const int64_t size = p.epilogue ? p.m : termsOf(p).count;
  const int parts = static_cast<int>(std::min<int64_t>(threads, size));
  inParallel(parts, [&](int part) {
    const int64_t begin = border(size, part, parts);
    const int64_t end = border(size, part + 1, parts);
    if (p.epilogue)
      applyRows(p, begin, end);
    else
      addTerms(p, begin, end);
  });
}
